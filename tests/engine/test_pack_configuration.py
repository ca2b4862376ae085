"""Exemptions and enforcement levels on the real engine, from files as `--policy-pack-config` takes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from aksgpu.packs.policies import EXEMPTED, EXEMPTED_ACROSS
from aksgpu.rules.examples import Example, Resource
from tests.conftest import RunningTwin
from tests.engine.analyze import PACKS, Said, analyze
from tests.engine.example_state import state_of

POOL = {
    "apiVersion": "2026-08-02-preview",
    "resourceGroupName": "rg-dev",
    "resourceProviderNamespace": "Microsoft.ContainerService",
    "parentResourcePath": "managedClusters/aks-dev",
    "resourceType": "agentPools",
    "resourceName": "gpunp",
    "properties": {
        "vmSize": "Standard_NC24ads_A100_v4",
        "enableAutoScaling": True,
        "gpuProfile": {"nvidia": {"managementMode": "Managed", "driverMode": "DRA"}},
    },
}
OPERATOR = {"name": "nvidia", "chart": "nvidia/gpu-operator", "values": {}}
EXAMPLE = Example(
    "",
    "fail",
    (
        Resource("gpunp", "azure-native:resources:Resource", POOL),
        Resource("operator", "kubernetes:helm.sh/v3:Release", OPERATOR),
    ),
)
POOL_URN = "urn:pulumi:dev::aksgpu::azure-native:resources:Resource::0.gpunp"
RELEASE_URN = "urn:pulumi:dev::aksgpu::kubernetes:helm.sh/v3:Release::0.operator"


def exempt(urn: str, **changes: str) -> dict[str, Any]:
    return {"exemptions": [{"urn": urn, "reason": "until the move", "expires": "2999-12-31", **changes}]}


def run(twin: RunningTwin, folder: Path, config: dict[str, Any]) -> list[Said]:
    file = folder / "config.json"
    file.write_text(json.dumps(config))
    return analyze(twin, state_of([(0, EXAMPLE)]), folder, PACKS[:1], [file])


def levels(said: list[Said], policy: str) -> list[str]:
    return [item.level for item in said if item.policy == policy]


def test_exempted_findings_stop_nothing_and_are_still_reported(twin: RunningTwin, tmp_path: Path):
    config = {
        "dra-with-autoscaler": exempt(POOL_URN),
        "dual-advertisement": exempt("urn:pulumi:*::kubernetes:helm.sh/*::*.operator"),
    }
    said = run(twin, tmp_path, config)
    assert levels(said, "dra-with-autoscaler") == levels(said, "dual-advertisement") == []
    (resource,) = [item for item in said if item.policy == EXEMPTED]
    (stack,) = [item for item in said if item.policy == EXEMPTED_ACROSS]
    assert (resource.urn, stack.urn) == (POOL_URN, RELEASE_URN)
    for item, name in ((resource, "dra-with-autoscaler"), (stack, "dual-advertisement")):
        assert item.level == "advisory"
        for part in (name, "until the move", "2999-12-31"):
            assert part in item.message


def test_what_is_expired_or_for_another_resource_stops_as_before(twin: RunningTwin, tmp_path: Path):
    config = {
        "dra-with-autoscaler": exempt(POOL_URN, expires="2020-01-01"),
        "dual-advertisement": exempt(RELEASE_URN + "2"),
    }
    said = run(twin, tmp_path, config)
    (expired,) = [item for item in said if item.policy == "dra-with-autoscaler"]
    assert expired.level == "mandatory"
    assert "expired on 2020-01-01" in expired.message
    assert levels(said, "dual-advertisement") == ["mandatory"]


def test_a_wrong_exemption_stops_with_policy_and_key(twin: RunningTwin, tmp_path: Path):
    said = run(twin, tmp_path, {"dra-os-sku": exempt("*"), "dual-advertisement": exempt("urn:pulumi:*::*")})
    for policy in ("dra-os-sku", "dual-advertisement"):
        found = [item for item in said if f"exemptions[0] of policy {policy} does not hold: its urn" in item.message]
        assert {(item.policy, item.level) for item in found} == {(policy, "mandatory")}
    assert len(levels(said, "dual-advertisement")) == 2


@pytest.mark.parametrize(
    ("wrong", "said"), [({"reason": ""}, "exemptions.0.reason"), ({"expires": "soon"}, "exemptions.0.expires")]
)
def test_the_engine_refuses_another_shape_before_anything_runs(
    twin: RunningTwin, tmp_path: Path, wrong: dict[str, str], said: str
):
    with pytest.raises(AssertionError, match=f"dra-os-sku: {said}"):
        run(twin, tmp_path, {"dra-os-sku": exempt(POOL_URN, **wrong)})


def test_enforcement_levels_are_the_engines_own(twin: RunningTwin, tmp_path: Path):
    config = {"dra-with-autoscaler": "advisory", "dual-advertisement": {"enforcementLevel": "disabled"}}
    said = run(twin, tmp_path, config)
    assert levels(said, "dra-with-autoscaler") == ["advisory"]
    assert levels(said, "dual-advertisement") == []
