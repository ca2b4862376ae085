"""The article's example on the twin, from nothing to an allocated GPU, and what goes wrong on the way."""

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi_azure_native import containerservice, resources

from aksgpu.knowledge.pool_kinds import GPU_PROFILES
from aksgpu.readers import azure as azure_reader
from components import Cluster, GpuDeviceClass, GpuNamespace, NodePool, PreviewFeature, ValidationJob, acceptance
from components.cluster import ClusterArgs
from components.preview_feature import MANAGED_GPU
from tests.engine.conftest import Dev, fingerprint
from twin import faults as switches
from twin.account import SUBSCRIPTION
from twin.paths import CHECKOUT

A100 = "Standard_NC24ads_A100_v4"
GROUP, CLUSTER = "rg-aksgpu-dev", "aks-dev"
EXISTING: ClusterArgs = {"use": {"resource_group": GROUP, "name": CLUSTER}}


def pool_program(name: str) -> Callable[[], None]:
    """A program that adds one pool to the dev stack's cluster."""

    def program() -> None:
        NodePool(name, {"resource_group_name": GROUP, "cluster_name": CLUSTER, "name": name, "vm_size": A100})

    return program


def test_the_dev_stack_ends_with_a_validated_gpu(dev: Dev, in_twin: None):
    pool = dev.azure.pool(GROUP, CLUSTER, "gpunp")
    assert pool is not None
    assert pool.accepted() == {
        "provisioningState": "Succeeded",
        "osSku": "Ubuntu",
        "driver": "Install",
        "managementMode": "Managed",
        "driverMode": "DRA",
    }
    (node,) = dev.kube.nodes("gpunp")
    slices = dev.kube.resource_slices("gpu.nvidia.com")
    assert [found["spec"]["nodeName"] for found in slices] == [node["metadata"]["name"]]
    job = dev.kube.job("gpu-dra-example", "gpu-dra-validation")
    assert job is not None
    assert job["status"]["succeeded"] == 1
    (pod,) = dev.kube.job_pods("gpu-dra-example", "gpu-dra-validation")
    assert pod["spec"]["nodeName"] == node["metadata"]["name"]
    assert "NVIDIA-SMI" in dev.kube.log("gpu-dra-example", pod["metadata"]["name"])


def test_a_second_run_changes_nothing_and_leaves_the_stack_files_alone(dev: Dev):
    assert "16 unchanged" in dev.preview("--expect-no-changes")
    assert fingerprint() == dev.stack_files


def plan(dev: Dev, tmp_path: Path, old: str, new: str) -> dict[str, str]:
    """Return operation by resource type and name for the dev stack with one value changed."""
    text = (CHECKOUT / "Pulumi.dev.yaml").read_text()
    assert old in text
    changed = tmp_path / "Pulumi.changed.yaml"
    changed.write_text(text.replace(old, new))
    steps = json.loads(dev.preview("--json", "--config-file", str(changed)))["steps"]
    named = {step["urn"].rpartition("$")[2].replace("::", " "): step["op"] for step in steps}
    return {name: operation for name, operation in named.items() if operation != "same"}


def test_a_changed_pool_size_is_an_update(dev: Dev, tmp_path: Path):
    assert plan(dev, tmp_path, "A100_v4, count: 1", "A100_v4, count: 2") == {
        "azure-native:resources:Resource gpunp": "update"
    }


def test_a_changed_vm_size_is_a_replacement_with_the_job_that_validates_it(dev: Dev, tmp_path: Path):
    operations = plan(dev, tmp_path, A100, "Standard_NC48ads_A100_v4")
    assert set(operations) == {"azure-native:resources:Resource gpunp", "kubernetes:batch/v1:Job validation"}
    assert all("replace" in operation for operation in operations.values())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name: gpunp,": "name: gpupool123456,"}, ["aksgpu:pools[0]", "has 13 characters, and AKS allows 12"]),
        (
            {"count: 1}\n": "count: -1}\n", "previewFeature": "previewFeatures"},
            ["aksgpu:pools[0].count is -1", "aksgpu:previewFeatures is not a key. Did you mean previewFeature?"],
        ),
        ({"config:": "config: ["}, ["invalid YAML file: yaml: line 3"]),
    ],
    ids=["rule", "model", "syntax"],
)
def test_a_wrong_configuration_is_one_paragraph_a_mistake(
    dev: Dev, tmp_path: Path, changes: dict[str, str], said: list[str]
):
    text = (CHECKOUT / "Pulumi.dev.yaml").read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    changed = tmp_path / "Pulumi.changed.yaml"
    changed.write_text(text)
    printed = dev.preview("--config-file", str(changed), ok=False)
    assert [part for part in said if part not in printed] == []
    assert "Traceback" not in printed


def test_what_azure_accepted_differently_fails_this_update_and_the_next(dev: Dev, stack, faults):
    faults("wrong-driver-mode")
    wrong = stack()
    for _ in range(2):
        said = wrong.refuses(wrong.up, pool_program("wrongnp"))
        assert "driverMode: asked for DRA, Azure accepted DevicePlugin" in said
    assert "Azure accepted DevicePlugin" in wrong.refuses(wrong.preview, pool_program("wrongnp"))


def test_a_typed_pool_loses_the_driver_mode_and_the_live_check_sees_it(dev: Dev, stack):
    def program() -> None:
        # More than the SDK's types have, as somebody would write it who knows the REST API.
        profile: Any = {"driver": "Install", "nvidia": {"management_mode": "Managed", "driver_mode": "DRA"}}
        containerservice.AgentPool(
            "typed",
            resource_group_name=GROUP,
            resource_name_=CLUSTER,
            agent_pool_name="typednp",
            vm_size=A100,
            count=1,
            mode="User",
            gpu_profile=profile,
        )

    stack().up(program)
    pool = dev.azure.pool(GROUP, CLUSTER, "typednp")
    assert pool is not None
    profile = GPU_PROFILES["managed-dra"]
    assert profile is not None
    asked = {"managementMode": profile.management_mode, "driverMode": profile.driver_mode}
    assert acceptance.compare(pool, asked) == [
        "managementMode: asked for Managed, Azure accepted Unmanaged",
        "driverMode: asked for DRA, Azure accepted nothing",
    ]


@pytest.fixture
def unregistered(dev: Dev, in_twin: None):
    """The preview feature, unregistered for the test and registered after it."""
    features = dev.azure._features.features
    features.unregister(azure_reader.NAMESPACE, MANAGED_GPU)
    yield
    features.register(azure_reader.NAMESPACE, MANAGED_GPU)
    _until(lambda: dev.azure.feature_state(MANAGED_GPU) == "Registered")


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_require_fails_the_preview_with_the_commands(dev: Dev, unregistered, stack):
    ours = stack()
    said = ours.refuses(ours.preview, pool_program("neednp"))
    assert "az feature register --namespace Microsoft.ContainerService --name ManagedGPUExperiencePreview" in said
    assert "az provider register --namespace Microsoft.ContainerService" in said


def test_require_creates_no_cluster_without_the_feature(dev: Dev, unregistered, tmp_path: Path):
    text = (CHECKOUT / "Pulumi.dev.yaml").read_text().replace(GROUP, "rg-unready").replace(CLUSTER, "aks-unready")
    assert "previewFeature: register" in text
    text = text.replace("previewFeature: register", "previewFeature: require")
    (tmp_path / "Pulumi.unready.yaml").write_text(text)
    options = ("--stack", "unready", "--config-file", str(tmp_path / "Pulumi.unready.yaml"), "--non-interactive")
    dev.twin.run("pulumi", "stack", "init", "unready", cwd=CHECKOUT)
    said = dev.twin.run("pulumi", "up", "--yes", "--skip-preview", *options, cwd=CHECKOUT, ok=False)
    assert "az feature register" in said.stdout + said.stderr
    assert (
        dev.twin.run("pulumi", "stack", "export", "--stack", "unready", cwd=CHECKOUT).stdout.count("ResourceGroup") == 0
    )
    dev.twin.run("pulumi", "stack", "rm", "--yes", "--force", "unready", cwd=CHECKOUT)


def test_register_waits_with_progress_before_what_it_gates(dev: Dev, unregistered, stack, faults):
    def program() -> None:
        gate = PreviewFeature("gate", {"mode": "register"})
        hooks = pulumi.ResourceHookBinding(before_create=[gate.before_create])
        resources.ResourceGroup(
            "gated",
            resource_group_name="rg-gated",
            location="eastus",
            opts=pulumi.ResourceOptions(hooks=hooks),
        )

    faults("feature-pending")
    gated = stack()
    assert "the update registers it" in gated.preview(program).text
    assert dev.azure.feature_state(MANAGED_GPU) in {"Unregistering", "Unregistered", "NotRegistered"}

    def mend() -> None:
        _until(lambda: dev.azure.feature_state(MANAGED_GPU) == "Registering")
        switches.switch(dev.twin.folder.faults, "feature-pending", None, on=False)

    mending = threading.Thread(target=mend)
    mending.start()
    text = gated.up(program).text
    mending.join()
    assert f"{MANAGED_GPU} is Registering, " in text
    assert dev.azure.feature_state(MANAGED_GPU) == "Registered"


CEL = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"


@pytest.mark.parametrize("expression", [CEL, "device.driver == 'gpu.nvidia.com'"], ids=["equal", "other"])
def test_a_class_made_by_hand_is_found_in_preview_and_never_touched(dev: Dev, stack, tmp_path: Path, expression: str):
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "by-hand"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }
    (tmp_path / "class.json").write_text(json.dumps(made))
    dev.twin.kubectl("apply", "-f", str(tmp_path / "class.json"))
    before = dev.kube.device_class("by-hand")
    assert before is not None

    def program() -> None:
        GpuDeviceClass("class", {"name": "by-hand"})

    ours = stack()
    try:
        for run in (ours.preview, ours.up):
            said = ours.refuses(run, program)
            assert "DeviceClass by-hand exists and does not belong to this stack" in said
            assert "last written by kubectl-client-side-apply" in said
            assert expression in said
        ours.destroy()
        after = dev.kube.device_class("by-hand")
        assert after is not None
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
        # Handed over as the message says, it is this stack's, whoever wrote its fields before.
        command = said.partition("kubectl annotate ")[2].splitlines()[0].split()
        dev.twin.kubectl("annotate", *command)
        ours.up(program)
        ours.destroy()
        assert dev.kube.device_class("by-hand") is None
    finally:
        dev.twin.kubectl("delete", "deviceclass", "by-hand", "--ignore-not-found")


def team(size: str = A100, gpus: int = 1) -> Callable[[], None]:
    """A whole stack of a team on the dev stack's cluster."""

    def program() -> None:
        cluster = Cluster("shared", EXISTING)
        pool = NodePool(
            "pool",
            {
                "name": "teamnp",
                "vm_size": size,
                "resource_group_name": cluster.resource_group_name,
                "cluster_name": cluster.cluster_name,
                "kubernetes_version": cluster.kubernetes_version,
                "node_provisioning": cluster.node_provisioning,
            },
        )
        inside = pulumi.ResourceOptions(providers=[cluster.provider])
        device_class = GpuDeviceClass("class", {"name": "team-gpu", "kubeconfig": cluster.kubeconfig}, inside)
        space = GpuNamespace(
            "space",
            {
                "name": "team",
                "device_class_name": device_class.class_name,
                "claims": [{"name": "claim", "count": gpus}],
                "claim_templates": [{"name": "one"}],
                "kubeconfig": cluster.kubeconfig,
            },
            inside,
        )
        ValidationJob(
            "job",
            {
                "namespace": space.namespace_name,
                "claim_name": space.claims["claim"].claim_name,
                "pool_name": pool.pool_name,
                "kubeconfig": cluster.kubeconfig,
            },
            inside,
        )

    return program


def test_a_cluster_that_exists_is_used_and_left(dev: Dev, stack):
    pools = [pool.facts.name for pool in dev.azure.pools(GROUP, CLUSTER)]
    shared = stack()
    shared.up(team())
    assert shared.preview(team()).changes == {}

    # A claim can't change: the Job goes first, then the claim; both come back in the other order. Two GPUs need a
    # larger VM size, so the pool is replaced in the same update, once the Job is gone.
    order = shared.up(team(size="Standard_NC48ads_A100_v4", gpus=2)).order
    deleted = [name for operation, name in order if operation == "delete-replaced"]
    created = [name for operation, name in order if operation == "create-replacement"]
    assert set(deleted) == set(created) == {"Job job", "ResourceClaim team/claim", "Resource pool"}
    assert deleted[0] == created[-1] == "Job job"

    shared.destroy()
    assert [pool.facts.name for pool in dev.azure.pools(GROUP, CLUSTER)] == pools
    cluster = dev.azure.cluster(GROUP, CLUSTER)
    assert cluster is not None
    assert cluster.provisioning_state == "Succeeded"
    assert dev.kube.device_class("team-gpu") is None
    assert dev.kube.get("/api/v1/namespaces/team") is None
    assert dev.kube.device_class("aks-dra-gpu") is not None


def test_a_cluster_that_does_not_exist_is_named(dev: Dev, stack):
    def program() -> None:
        Cluster("shared", {"use": {"resource_group": "rg-none", "name": "aks-none"}})

    ours = stack()
    said = ours.refuses(ours.preview, program)
    assert f"no cluster aks-none in the resource group rg-none of the subscription {SUBSCRIPTION}" in said


POOLS = f"""
import pulumi
from components import NodePool

def pool(resource, **more):
    NodePool(resource, {{"resource_group_name": "{GROUP}", "cluster_name": "{CLUSTER}", "vm_size": "{A100}", **more}})

def boom(_):
    raise pulumi.RunError("boom")

"""


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ('pool("p", name="a-b")', "AKSGPU208 pool-name"),
        ('pool("p", os_sku="AzureContainerLinux")', "AKSGPU204 dra-os-sku"),
        ('pool("q", kind="driver-only", name="a-b"); pool("p")', "AKSGPU208 pool-name"),
        ('pool("p"); pool("q", kind="driver-only", name="a-b")', "AKSGPU208 pool-name"),
        ('pool("p"); pulumi.Output.from_input(1).apply(boom)', "boom"),
    ],
)
def test_a_program_that_fails_at_once_says_why(dev: Dev, tmp_path: Path, program: str, said: str):
    """In a process of its own: what the SDK tears down too early takes the whole process with it, and its message."""
    (tmp_path / "Pulumi.yaml").write_text(
        f"name: refused\nruntime: {{name: python, options: {{virtualenv: {sys.prefix}}}}}\n"
    )
    (tmp_path / "__main__.py").write_text(f"import sys\nsys.path.insert(0, {str(CHECKOUT)!r})\n{POOLS}{program}\n")
    dev.twin.run("pulumi", "stack", "select", "--create", "refused", cwd=tmp_path)
    done = dev.twin.run("pulumi", "preview", "--non-interactive", cwd=tmp_path, ok=False)
    assert said in done.stdout + done.stderr
    assert "segmentation" not in done.stdout + done.stderr
