"""Agent pools through azure-mgmt-containerservice: every kind, its nodes, changes and their end."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from tests.azure.harness import A100, DRA, GROUP, Endpoint

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


def test_a_dra_pool_reads_as_the_aks_article_shows(aks: Any, put_pool: Any, cluster: str) -> None:
    put_pool("article", vmSize=A100, count=1, gpuProfile={"nvidia": {"managementMode": "Managed", "driverMode": "DRA"}})
    shown = aks.agent_pools.get(GROUP, cluster, "article").properties
    assert (shown.provisioning_state, shown.os_sku, shown.gpu_profile.driver) == ("Succeeded", "Ubuntu", "Install")
    nvidia = shown.gpu_profile.nvidia
    assert (nvidia.management_mode, nvidia.driver_mode) == ("Managed", "DRA")
    assert shown.current_orchestrator_version == "1.35.4"


def test_the_nodes_have_the_labels_of_aks_and_no_gpu_taint(put_pool: Any, cluster: str, endpoint: Endpoint) -> None:
    put_pool("labelled", vmSize=A100, count=1, gpuProfile=DRA, nodeLabels={"team": "ml"}, nodeTaints=["a=b:NoExecute"])
    node = next(node for node in endpoint.cluster(cluster).plan.nodes if node.pool == "labelled")
    expected = {
        "agentpool": "labelled",
        "kubernetes.azure.com/agentpool": "labelled",
        "kubernetes.azure.com/mode": "user",
        "kubernetes.azure.com/accelerator": "nvidia",
        "kubernetes.azure.com/dcgm-exporter": "enabled",
        "kubernetes.azure.com/sku-cpu": "24",
        "node.kubernetes.io/instance-type": A100,
        "team": "ml",
    }
    assert expected.items() <= node.labels.items()
    assert [(taint.key, taint.value, taint.effect) for taint in node.taints] == [("a", "b", "NoExecute")]
    assert (node.gpus[0].memory_mib, node.gpus[0].architecture) == (81920, "Ampere")


def test_a_managed_pool_ignores_driver_none(put_pool: Any) -> None:
    pool = put_pool(
        "ignores", vmSize=A100, count=0, gpuProfile={"driver": "None", "nvidia": {"managementMode": "Managed"}}
    )
    assert pool.properties.gpu_profile.driver == "Install"
    assert pool.properties.gpu_profile.nvidia.driver_mode == "DevicePlugin"


def test_what_an_update_does_not_say_stays(put_pool: Any) -> None:
    put_pool("keeps", vmSize=A100, count=0, gpuProfile=DRA, nodeLabels={"a": "1"}, tags={"x": "y"})
    pool = put_pool("keeps", nodeLabels={"b": "2"})
    assert pool.properties.node_labels == {"b": "2"}
    assert pool.properties.tags == {"x": "y"}
    assert pool.properties.gpu_profile.nvidia.driver_mode == "DRA"


def test_scaling_adds_and_drains_the_newest_nodes(put_pool: Any, cluster: str, endpoint: Endpoint) -> None:
    machines = endpoint.cluster(cluster)

    def names() -> list[str]:
        return [node.name for node in machines.plan.nodes if node.pool == "scales"]

    put_pool("scales", vmSize="Standard_D4s_v5", count=1)
    first = names()
    put_pool("scales", count=3)
    assert names()[:1] == first and len(names()) == 3
    surplus = names()[1:]
    machines.log.clear()
    put_pool("scales", count=1)
    assert names() == first
    assert [entry for entry in machines.log if entry[0] == "cordon"] == [("cordon", name) for name in reversed(surplus)]


def test_a_pool_goes_with_its_nodes(aks: Any, put_pool: Any, cluster: str, endpoint: Endpoint) -> None:
    put_pool("goes", vmSize="Standard_D4s_v5", count=2)
    aks.agent_pools.begin_delete(GROUP, cluster, "goes").result()
    with pytest.raises(ResourceNotFoundError):
        aks.agent_pools.get(GROUP, cluster, "goes")
    assert all(node.pool != "goes" for node in endpoint.cluster(cluster).plan.nodes)
    aks.agent_pools.begin_delete(GROUP, cluster, "goes").result()


def test_pools_are_listed_and_show_in_their_cluster(aks: Any, put_pool: Any, cluster: str) -> None:
    put_pool("listed", vmSize="Standard_D4s_v5", count=0)
    listed = {pool.name for pool in aks.agent_pools.list(GROUP, cluster)}
    shown = {pool.name for pool in aks.managed_clusters.get(GROUP, cluster).properties.agent_pool_profiles}
    assert {"sys", "listed"} <= listed
    assert listed == shown


def test_etags_protect_against_lost_updates(aks: Any, put_pool: Any, cluster: str) -> None:
    from azure.core import MatchConditions

    pool = put_pool("tagged", vmSize="Standard_D4s_v5", count=0)
    put_pool("tagged", count=1)
    with pytest.raises(HttpResponseError) as caught:
        aks.agent_pools.begin_create_or_update(
            GROUP,
            cluster,
            "tagged",
            {"properties": {"count": 2}},
            etag=pool.properties.e_tag,
            match_condition=MatchConditions.IfNotModified,
        )
    assert caught.value.status_code == 412


def test_a_new_node_image_replaces_the_nodes(aks: Any, put_pool: Any, cluster: str, endpoint: Endpoint) -> None:
    import datetime as dt

    before = put_pool("imaged", vmSize="Standard_D4s_v5", count=2).properties.node_image_version
    store = endpoint.azure.service.store
    store.put_settings(store.settings().model_copy(update={"today": dt.date(2026, 8, 20)}))
    aks.agent_pools.begin_upgrade_node_image_version(GROUP, cluster, "imaged").result()
    after = aks.agent_pools.get(GROUP, cluster, "imaged").properties.node_image_version
    assert (before, after) == ("AKSUbuntu-2404gen2containerd-202607.06.0", "AKSUbuntu-2404gen2containerd-202608.06.0")
    labels = [
        node.labels["kubernetes.azure.com/node-image-version"]
        for node in endpoint.cluster(cluster).plan.nodes
        if node.pool == "imaged"
    ]
    assert labels == [after, after]
