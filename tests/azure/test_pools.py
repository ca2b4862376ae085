"""Agent pools through azure-mgmt-containerservice: every kind, its nodes, changes and their end."""

from typing import Any

import pytest

from tests.azure.harness import A100, DRA, Endpoint

KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "dra": ({"gpuProfile": DRA}, "dra"),
    "plugin": ({"gpuProfile": {"nvidia": {"managementMode": "Managed"}}}, "device-plugin"),
    "driver": ({"gpuProfile": {"driver": "Install"}}, "driver-only"),
    "silent": ({}, "driver-only"),
    "bare": ({"gpuProfile": {"driver": "None", "nvidia": {"managementMode": "Unmanaged"}}}, "driverless"),
    "cpu": ({"vmSize": "Standard_D8s_v5"}, "none"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_pool_brings_its_nodes(kind: str, put_pool: Any, cluster: str, endpoint: Endpoint) -> None:
    properties, mode = KINDS[kind]
    pool = put_pool(kind, **{"vmSize": A100, "count": 2, **properties})
    assert pool.properties.provisioning_state == "Succeeded"
    nodes = [node for node in endpoint.cluster(cluster).plan.nodes if node.pool == kind]
    assert [node.gpu_mode for node in nodes] == [mode, mode]
    assert len({node.name for node in nodes}) == 2
    assert all(node.kubelet_version == "v1.35.4" for node in nodes)
