"""`aksgpu upgrade plan`, the real command, on the Azure endpoint; its plans carried out there by Microsoft's SDK."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.azure.harness import A100, GROUP, Endpoint
from twin.account import SUBSCRIPTION

DAY = "2026-07-15"


@pytest.fixture
def plan(endpoint: Endpoint) -> Any:
    """Run the command; returns the finished process."""

    def run(*arguments: str, ok: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "AKSGPU_ARM_ENDPOINT": endpoint.url,
            "AKSGPU_ARM_TOKEN_FILE": str(endpoint.folder.token),
            "REQUESTS_CA_BUNDLE": str(endpoint.folder.ca),
        }
        command = [sys.executable, "-c", "from aksgpu.cli import main; main()", "upgrade", "plan", "--today", DAY]
        done = subprocess.run(
            [*command, *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == ok, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def carry_out(aks: Any, cluster: str, steps: list[dict[str, Any]]) -> None:
    for step in steps:
        moves = {move["what"]: move["to"] for move in step["moves"]}
        version = moves.pop("control plane", None)
        if version is None:
            ((pool, wanted),) = moves.items()
            body = {"properties": {"orchestratorVersion": wanted}}
            aks.agent_pools.begin_create_or_update(GROUP, cluster, pool, body).result()
            continue
        profiles = [{"name": pool, "orchestratorVersion": wanted} for pool, wanted in moves.items()]
        properties = {"kubernetesVersion": version, "agentPoolProfiles": profiles}
        body = {"location": "eastus", "properties": properties}
        aks.managed_clusters.begin_create_or_update(GROUP, cluster, body).result()


@pytest.mark.parametrize(
    ("channel", "kinds"),
    [
        ("none", ["control-plane", "node-pool", "node-pool"] * 3),
        ("stable", ["cluster"] * 3),
    ],
)
def test_azure_accepts_every_step_and_then_nothing_is_left_to_do(
    channel: str, kinds: list[str], aks: Any, make_cluster: Any, plan: Any, endpoint: Endpoint
) -> None:
    cluster = f"plan-{channel}"
    make_cluster(cluster, "1.33.7", autoUpgradeProfile={"upgradeChannel": channel})
    body = {"properties": {"vmSize": A100, "count": 2, "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}}}
    aks.agent_pools.begin_create_or_update(GROUP, cluster, "gpunp", body).result()
    place = ("-g", GROUP, "-n", cluster, "--to", "1.36", "--format", "json")
    found = json.loads(plan(*place).stdout)
    assert found["version"] == 1
    assert [step["kind"] for step in found["steps"]] == kinds
    assert found["channel"] == channel
    assert found["steps"][-1]["moves"][-1] == {"what": "gpunp", "from": "1.35.4", "to": "1.36.2"}
    # The pool's own settings: nothing is added for its two nodes.
    assert {extra["vm_size"] for step in found["steps"] for extra in step["extra"]} == {"Standard_D4s_v5"}
    carry_out(aks, cluster, found["steps"])
    assert {node.kubelet_version for node in endpoint.cluster(cluster).plan.nodes} == {"v1.36.2"}
    after = json.loads(plan(*place).stdout)
    assert (after["control_plane"], after["steps"], after["refusal"]) == ("1.36.2", [], None)


def test_no_way_is_exit_code_1_and_what_can_not_be_read_2(make_cluster: Any, plan: Any) -> None:
    make_cluster("plan-no", "1.35")
    refused = plan("-g", GROUP, "-n", "plan-no", "--to", "1.34", ok=1)
    assert "AKS never takes a cluster back to 1.34" in refused.stdout
    assert "There is no cluster rg-test/nobody" in plan("-g", GROUP, "-n", "nobody", ok=2).stderr
    assert "Name the cluster with both" in plan("-g", GROUP, ok=2).stderr
    assert "'soon' is no Kubernetes version" in plan("-g", GROUP, "-n", "plan-no", "--to", "soon", ok=2).stderr


def test_the_plan_goes_to_a_file_as_a_picture_or_a_page(make_cluster: Any, plan: Any, tmp_path: Path) -> None:
    make_cluster("plan-file", "1.35")
    for kind, start in (("svg", "<svg "), ("html", "<!DOCTYPE html>")):
        file = tmp_path / f"plan.{kind}"
        assert plan("-g", GROUP, "-n", "plan-file", "--format", kind, "--output", str(file)).stdout == ""
        assert file.read_text().startswith(start)
    nowhere = str(tmp_path / "nowhere" / "plan.svg")
    assert "can't be written" in plan("-g", GROUP, "-n", "plan-file", "--output", nowhere, ok=2).stderr


def test_azure_out_of_reach_is_one_paragraph(plan: Any, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "port", 1)
    said = plan("-g", GROUP, "-n", "plan-away", ok=2).stderr
    assert said.startswith(
        "aksgpu: Could not read the upgrades of the cluster rg-test/plan-away: Azure can't be reached"
    )
    assert said.count("\n") == 1
