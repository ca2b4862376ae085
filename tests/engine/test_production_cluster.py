"""A cluster and pools with everything that production asks for, on the real engine and the twin's Azure."""

import copy
from collections.abc import Callable
from typing import Any

from aksgpu.settings import load
from components import Cluster, NodePool
from components.cluster import ClusterArgs
from tests.engine.conftest import Dev

GROUP, NAME = "rg-production", "aks-production"
SUBNET = "/subscriptions/s/resourceGroups/rg-net/providers/Microsoft.Network/virtualNetworks/hub/subnets/nodes"
SETTINGS: dict[str, Any] = {
    "aksgpu:cluster": {
        "create": {
            "resourceGroup": GROUP,
            "name": NAME,
            "location": "eastus",
            "kubernetesVersion": "1.35",
            "systemPool": {"vmSize": "Standard_D4s_v5", "count": 1, "zones": ["1", "2", "3"], "subnetId": SUBNET},
            "tier": "Standard",
            "network": {
                "dataplane": "cilium",
                "policy": "cilium",
                "podCidr": "10.244.0.0/16",
                "serviceCidr": "10.0.0.0/16",
                "dnsServiceIp": "10.0.0.10",
                "outboundType": "userDefinedRouting",
            },
            "apiServer": {"private": True, "privateDnsZone": "system"},
            "adminGroups": ["00000000-0000-0000-0000-00000000000f"],
            "azureRbac": True,
            "localAccounts": False,
            "nodeOsUpgradeChannel": "SecurityPatch",
            "tags": {"owner": "platform"},
            "furtherProperties": {"storageProfile": {"diskCSIDriver": {"enabled": True}}},
        }
    },
    "aksgpu:previewFeature": "register",
    "aksgpu:pools": [
        {
            "name": "gpudra",
            "kind": "managed-dra",
            "vmSize": "Standard_NC24ads_A100_v4",
            "count": 1,
            "labels": {"team": "ml"},
            "zones": ["1"],
            "upgrade": {"maxSurge": "0", "maxUnavailable": "1", "drainTimeoutMinutes": 120, "soakMinutes": 5},
            "subnetId": SUBNET,
            "furtherProperties": {"maxPods": 60},
        },
        {"name": "cpu", "kind": "cpu", "vmSize": "Standard_D4s_v5", "count": 0, "osDiskType": "Ephemeral"},
    ],
}


def program(config: dict[str, Any] = SETTINGS) -> None:
    settings = load(config)
    cluster = Cluster("cluster", ClusterArgs(**settings.cluster.model_dump(exclude_none=True)))
    for pool in settings.pools:
        NodePool(
            pool.name,
            {
                **pool.model_dump(exclude_none=True, exclude={"vm_size"}),
                "vm_size": pool.vm_size,
                "resource_group_name": cluster.resource_group_name,
                "cluster_name": cluster.cluster_name,
                "preview_feature": settings.preview_feature,
            },
        )


def with_system_pool_of(count: int) -> Callable[[], None]:
    changed = copy.deepcopy(SETTINGS)
    changed["aksgpu:cluster"]["create"]["systemPool"]["count"] = count
    return lambda: program(changed)


def test_azure_accepts_all_of_it_and_nothing_is_planned_again(dev: Dev, stack):
    ours = stack()
    ours.up(program)

    asked = ours.inputs("azure-native:containerservice:ManagedCluster")
    assert asked["networkProfile"]["networkPluginMode"] == "overlay"
    assert asked["apiServerAccessProfile"] == {"enablePrivateCluster": True, "privateDNSZone": "system"}
    assert asked["aadProfile"]["enableAzureRBAC"] is True
    assert asked["storageProfile"] == {"diskCSIDriver": {"enabled": True}}

    pool = ours.inputs("azure-native:resources:Resource")["properties"]
    assert (pool["nodeLabels"], pool["nodeTaints"], pool["maxPods"]) == ({"team": "ml"}, ["sku=gpu:NoSchedule"], 60)

    live = dev.azure.cluster(GROUP, NAME)
    assert live is not None
    assert live.local_accounts_disabled
    pools = {pool.facts.name: pool.facts for pool in live.pools}
    assert pools["gpudra"].driver_mode == "DRA"
    assert pools["cpu"].count == 0

    assert ours.preview(program).paths == {}
    ours.refresh()
    assert ours.preview(program).paths == {}

    asked_for_two = ours.preview(with_system_pool_of(2))
    assert asked_for_two.paths == {}
    assert "1 nodes of Standard_D4s_v5, and 2 of Standard_D4s_v5 are asked for" in asked_for_two.text
