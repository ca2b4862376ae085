"""GpuAdmission on the twin: deployed with a stack, in force on the real API server, gone with the stack."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi

from aksgpu.rules.book import BOOK
from components import Cluster, GpuAdmission, GpuClaim, GpuNamespace, ValidationJob
from components.gpu_admission import AdmissionPool
from tests.cluster.harness import eventually
from tests.conftest import RunningTwin
from tests.engine.conftest import Dev
from tests.engine.test_main_job import A100, EXISTING, plan

RULES = [rule for rule in BOOK if "admission" in rule.prevents]
PLUGIN = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: nvidia-device-plugin, namespace: kube-system}
spec:
  selector: {matchLabels: {name: plugin}}
  template:
    metadata: {labels: {name: plugin}}
    spec:
      tolerations: [{key: sku, operator: Exists}]
      containers: [{name: plugin, image: "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}]
"""


def program(taints: list[str], prefix: str = "inline", *, job: bool = True, **more: Any) -> Callable[[], None]:
    """Policies for the dev stack's pool, and a Job that has to get past them."""

    def run() -> None:
        cluster = Cluster("shared", EXISTING)
        inside = pulumi.ResourceOptions(providers=[cluster.provider])
        pools: list[AdmissionPool] = [{"name": "gpunp", "vm_size": A100, "taints": taints}]
        admission = GpuAdmission(
            "admission", {"prefix": prefix, "pools": pools, "kubeconfig": cluster.kubeconfig, **more}, inside
        )
        if not job:
            return
        after = pulumi.ResourceOptions(providers=[cluster.provider], depends_on=[admission])
        space = GpuNamespace("space", {"name": "inline-admitted", "device_class_name": "aks-dra-gpu"}, after)
        claim = GpuClaim(
            "claim", {"name": "claim", "namespace": space.namespace_name, "device_class_name": "aks-dra-gpu"}, after
        )
        ValidationJob(
            "job",
            {"namespace": space.namespace_name, "claim_name": claim.claim_name, "pool_name": "gpunp"},
            after,
        )

    return run


def test_policies_come_and_go_with_a_stack_and_admit_its_job(dev: Dev, twin: RunningTwin, stack, tmp_path: Path):
    daemon_set = tmp_path / "plugin.yaml"
    daemon_set.write_text(PLUGIN)

    def refused() -> str:
        done = twin.run("kubectl", "create", "--dry-run=server", "-f", daemon_set, ok=None)
        return done.stderr if done.returncode else ""

    def admitted() -> bool:
        return not refused()

    mine = stack()
    created = mine.up(program(["sku=gpu:NoSchedule"])).changes
    kinds = [name.split()[0] for name, operation in created.items() if operation == "create"]
    assert kinds.count("ValidatingAdmissionPolicy") == kinds.count("ValidatingAdmissionPolicyBinding") == len(RULES)
    said = eventually(refused, "the refusal")
    assert "AKSGPU301 dual-advertisement: DaemonSet kube-system/nvidia-device-plugin" in said
    assert "pool gpunp" in said

    # Only the policies change, and they know the pools as they are now.
    changed = mine.up(program(["mine=only:NoSchedule"])).changes
    assert changed["ValidatingAdmissionPolicy admission-inline-dual-advertisement"] == "update"
    assert {name.split()[0] for name in changed} == {"ValidatingAdmissionPolicy"}
    eventually(admitted, "the admission")

    other = stack()
    assert "does not belong to this stack" in other.refuses(other.preview, program([]))
    mine.destroy()
    kinds = "validatingadmissionpolicies,validatingadmissionpolicybindings"
    assert "inline" not in twin.kubectl("get", kinds, "-o", "name")
    eventually(admitted, "the admission")

    # Switched on again they know the pools again.
    mine.up(program(["sku=gpu:NoSchedule"], job=False))
    assert "pool gpunp" in eventually(refused, "the refusal")


def test_the_program_deploys_policies_when_the_setting_says_so(dev: Dev, tmp_path: Path):
    line = "aksgpu:previewFeature: register"
    planned = plan(dev, tmp_path, line, f"{line}\n  aksgpu:admission: warn")
    assert planned.pop("urn:pulumi:dev aksgpu aksgpu:index:GpuAdmission admission") == "create"
    assert len(planned) == 2 * len(RULES)
    assert plan(dev, tmp_path, line, f"{line}\n  aksgpu:admission: off") == {}


def test_a_mode_that_is_none_is_refused(dev: Dev, stack):
    refusing = stack()
    said = refusing.refuses(refusing.preview, program([], mode="on"))
    assert "GpuAdmission has no mode 'on'. Modes: enforce, warn." in said
