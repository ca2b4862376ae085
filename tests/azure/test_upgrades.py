"""Upgrades: control plane first, pools node by node with surge, drains that respect disruption budgets."""

import datetime as dt
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from lightkube.models.core_v1 import PodSpec, PodStatus
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.resources.core_v1 import Pod

from tests.azure.harness import FAST, GROUP, Endpoint

CPU = "Standard_D4s_v5"


def pod(name: str, node: str, owner: str = "ReplicaSet", phase: str = "Running") -> Pod:
    owners = [OwnerReference(apiVersion="apps/v1", kind=owner, name=owner, uid="1")]
    return Pod(
        metadata=ObjectMeta(name=name, namespace="ns", ownerReferences=owners),
        spec=PodSpec(containers=[], nodeName=node),
        status=PodStatus(phase=phase),
    )


def upgrade(aks: Any, cluster: str, version: str, **properties: Any) -> Any:
    body = {"location": "eastus", "properties": {"kubernetesVersion": version, **properties}}
    return aks.managed_clusters.begin_create_or_update(GROUP, cluster, body).result()


def test_the_control_plane_alone(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    make_cluster("alone", "1.34")
    shown = upgrade(aks, "alone", "1.35")
    assert shown.properties.current_kubernetes_version == "1.35.4"
    machines = endpoint.cluster("alone")
    assert machines.version == "1.35.4"
    assert [node.kubelet_version for node in machines.plan.nodes] == ["v1.34.5"]


def test_the_whole_cluster(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    make_cluster("whole", "1.34")
    upgrade(aks, "whole", "1.35", agentPoolProfiles=[{"name": "sys", "orchestratorVersion": "1.35"}])
    assert [node.kubelet_version for node in endpoint.cluster("whole").plan.nodes] == ["v1.35.4"]


def test_the_same_minor_alias_changes_nothing(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    make_cluster("alias", "1.34.4")
    assert upgrade(aks, "alias", "1.34").properties.current_kubernetes_version == "1.34.4"
    assert upgrade(aks, "alias", "1.34.5").properties.current_kubernetes_version == "1.34.5"


def _pool_behind(aks: Any, make_cluster: Any, cluster: str, **properties: Any) -> None:
    make_cluster(cluster, "1.34")
    body = {"properties": {"vmSize": CPU, "count": 3, **properties}}
    aks.agent_pools.begin_create_or_update(GROUP, cluster, "work", body).result()
    upgrade(aks, cluster, "1.35")


def _upgrade_pool(aks: Any, cluster: str, **properties: Any) -> Any:
    body = {"properties": {"orchestratorVersion": "1.35", **properties}}
    return aks.agent_pools.begin_create_or_update(GROUP, cluster, "work", body).result()


@pytest.mark.parametrize(
    ("settings", "most", "least"),
    [
        ({"maxSurge": "10%"}, 4, 3),
        ({"maxSurge": "2"}, 5, 3),
        ({"maxSurge": "0", "maxUnavailable": "1"}, 3, 2),
        ({"maxSurge": "0", "maxUnavailable": "2"}, 3, 1),
    ],
)
def test_a_pool_node_by_node(
    settings: dict[str, str],
    most: int,
    least: int,
    aks: Any,
    make_cluster: Any,
    endpoint: Endpoint,
) -> None:
    cluster = f"surge{most}{least}"
    _pool_behind(aks, make_cluster, cluster, upgradeSettings=settings)
    machines = endpoint.cluster(cluster)
    before = {node.name for node in machines.plan.nodes if node.pool == "work"}
    machines.plans.clear()
    _upgrade_pool(aks, cluster)
    after = {node.name: node.kubelet_version for node in machines.plan.nodes if node.pool == "work"}
    assert after == dict.fromkeys(before, "v1.35.4")
    sizes = [sum(node.pool == "work" for node in plan.nodes) for plan in machines.plans]
    # While nodes are replaced, surge comes first; the nodes being reimaged are missing from both.
    assert max(sizes) == most
    assert min(sizes) == min(least, 3)


def test_pods_are_evicted_but_not_those_that_stay(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    _pool_behind(aks, make_cluster, "drains")
    machines = endpoint.cluster("drains")
    node = next(node.name for node in machines.plan.nodes if node.pool == "work")
    machines.pods = [pod("moves", node), pod("daemon", node, owner="DaemonSet"), pod("done", node, phase="Succeeded")]
    machines.log.clear()
    _upgrade_pool(aks, "drains")
    assert [name for what, name in machines.log if what == "evict"] == ["moves"]
    cordoned = [name for what, name in machines.log if what == "cordon"]
    assert cordoned.index(node) == 0
    assert machines.log.index(("cordon", node)) < machines.log.index(("evict", "moves"))


@pytest.mark.parametrize(("behaviour", "mark"), [("Schedule", "uncordon"), ("Cordon", "label")])
def test_a_disruption_budget_stops_the_upgrade(
    behaviour: str, mark: str, aks: Any, make_cluster: Any, endpoint: Endpoint
) -> None:
    cluster = f"stops-{behaviour.lower()}"
    settings = {"undrainableNodeBehavior": behaviour, "drainTimeoutInMinutes": 5}
    _pool_behind(aks, make_cluster, cluster, upgradeSettings=settings)
    machines = endpoint.cluster(cluster)
    node = next(node.name for node in machines.plan.nodes if node.pool == "work")
    machines.pods = [pod("guarded", node)]
    machines.guarded = {"guarded"}
    with pytest.raises(HttpResponseError) as caught:
        _upgrade_pool(aks, cluster)
    assert caught.value.error is not None
    assert caught.value.error.code == "UpgradeFailed"
    assert "Cannot evict pod as it would violate the pod's disruption budget." in caught.value.message
    assert node in caught.value.message
    assert (mark, node) in machines.log
    old = sum(found.kubelet_version == "v1.34.5" for found in machines.plan.nodes if found.pool == "work")
    assert old == (3 if behaviour == "Schedule" else 1)
    machines.guarded = set()
    _upgrade_pool(aks, cluster)
    assert {found.kubelet_version for found in machines.plan.nodes if found.pool == "work"} == {"v1.35.4"}


def test_a_forced_upgrade_deletes_what_it_can_not_evict(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    _pool_behind(aks, make_cluster, "forced")
    machines = endpoint.cluster("forced")
    node = next(node.name for node in machines.plan.nodes if node.pool == "work")
    machines.pods, machines.guarded = [pod("guarded", node)], {"guarded"}
    upgrade(
        aks,
        "forced",
        "1.35",
        upgradeSettings={"overrideSettings": {"forceUpgrade": True, "until": "2027-01-01T00:00:00Z"}},
    )
    _upgrade_pool(aks, "forced")
    assert machines.pods == []


def test_the_fault_drain_blocked_refuses_every_eviction(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    endpoint.azure.service.store.put_settings(FAST)
    _pool_behind(aks, make_cluster, "blocked", upgradeSettings={"drainTimeoutInMinutes": 5})
    machines = endpoint.cluster("blocked")
    node = next(node.name for node in machines.plan.nodes if node.pool == "work")
    machines.pods = [pod("any", node)]
    endpoint.fault("drain-blocked", "work")
    with pytest.raises(HttpResponseError, match="failed when evicting pod ns/any"):
        _upgrade_pool(aks, "blocked")
    assert machines.pods


def test_upgrade_profiles_show_what_is_accepted(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    _pool_behind(aks, make_cluster, "profiles")
    profile = aks.managed_clusters.get_upgrade_profile(GROUP, "profiles").control_plane_profile
    assert profile.kubernetes_version == "1.35.4"
    assert [entry.kubernetes_version for entry in profile.upgrades] == ["1.36.1", "1.36.2"]
    pool = aks.agent_pools.get_upgrade_profile(GROUP, "profiles", "work")
    assert pool.kubernetes_version == "1.34.5"
    assert [entry.kubernetes_version for entry in pool.upgrades] == ["1.35.3", "1.35.4"]
    assert pool.latest_node_image_version == "AKSUbuntu-2204gen2containerd-202607.06.0"
    available = aks.agent_pools.get_available_agent_pool_versions(GROUP, "profiles").agent_pool_versions
    found = [entry.kubernetes_version for entry in available]
    assert found == ["1.33.7", "1.33.8", "1.34.4", "1.34.5", "1.35.3", "1.35.4"]


def test_with_an_upgrade_channel_only_the_whole_cluster_moves(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    make_cluster("channel", "1.34", autoUpgradeProfile={"upgradeChannel": "stable"})
    with pytest.raises(HttpResponseError) as caught:
        upgrade(aks, "channel", "1.35")
    assert caught.value.error is not None
    assert caught.value.error.code == "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged"
    upgrade(aks, "channel", "1.35", agentPoolProfiles=[{"name": "sys", "orchestratorVersion": "1.35"}])
    assert [node.kubelet_version for node in endpoint.cluster("channel").plan.nodes] == ["v1.35.4"]
    aks.managed_clusters.begin_create_or_update(
        GROUP, "channel", {"location": "eastus", "properties": {"autoUpgradeProfile": {"upgradeChannel": "none"}}}
    ).result()
    assert upgrade(aks, "channel", "1.36").properties.current_kubernetes_version == "1.36.2"


def test_out_of_support_only_the_whole_cluster_skips_minors(aks: Any, make_cluster: Any, endpoint: Endpoint) -> None:
    make_cluster("rescue", "1.33.7")
    endpoint.azure.service.store.put_settings(FAST.model_copy(update={"today": dt.date(2026, 12, 15)}))
    profile = aks.managed_clusters.get_upgrade_profile(GROUP, "rescue").control_plane_profile
    assert [entry.kubernetes_version for entry in profile.upgrades] == ["1.35.3", "1.35.4"]
    assert aks.agent_pools.get_upgrade_profile(GROUP, "rescue", "sys").upgrades == []
    with pytest.raises(HttpResponseError, match="only allowed for the control plane and all agent pools in one"):
        upgrade(aks, "rescue", "1.35")
    upgrade(aks, "rescue", "1.35", agentPoolProfiles=[{"name": "sys", "orchestratorVersion": "1.35"}])
    assert [node.kubelet_version for node in endpoint.cluster("rescue").plan.nodes] == ["v1.35.4"]
