"""Pools of the bridged providers."""

import json
from typing import Any

import pytest

from aksgpu.facts.pools import PoolFacts
from aksgpu.readers.pulumi_resources import PulumiResource, read, reader_for
from aksgpu.rules.book import judge

CLUSTER_ID = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
POOL = "azure:containerservice/kubernetesClusterNodePool:KubernetesClusterNodePool"
CLUSTER = "azure:containerservice/kubernetesCluster:KubernetesCluster"
PROPS: dict[str, Any] = {
    "name": "gpunp",
    "kubernetesClusterId": CLUSTER_ID,
    "vmSize": "Standard_NC24ads_A100_v4",
    "osSku": "Ubuntu",
    "gpuDriver": "None",
    "gpuInstance": "MIG1g",
    "priority": "Spot",
    "autoScalingEnabled": True,
    "upgradeSettings": {"maxSurge": "10%"},
    "nodeCount": 2.0,
    "nodeTaints": ["sku=gpu:NoSchedule"],
}
BODY = {"properties": {"gpuProfile": {"nvidia": {"managementMode": "Managed", "driverMode": "DRA"}}}}


def pool(type_: str, props: object) -> PoolFacts:
    (found,) = read(PulumiResource(type_, "urn", props)).pools
    return found


@pytest.mark.parametrize("type_", [POOL, "azurerm:index/kubernetesClusterNodePool:KubernetesClusterNodePool"])
def test_a_pool(type_: str):
    found = pool(type_, PROPS)
    assert (found.name, found.cluster.name, found.cluster.resource_group) == ("gpunp", "aks", "rg")
    assert (found.vm_size, found.os_sku, found.gpu_driver) == ("Standard_NC24ads_A100_v4", "Ubuntu", "None")
    assert (found.gpu_instance_profile, found.scale_set_priority, found.autoscaling) == ("MIG1g", "Spot", True)
    assert (found.max_surge, found.count) == ("10%", 2)
    assert (found.form.kind, found.malformed) == ("classic", ())


def test_managed_settings_never_reach_azure():
    props = {**PROPS, "gpuDriver": "Install", "gpuProfile": {"nvidia": {"driverMode": "DRA"}}}
    findings = judge(read(PulumiResource(POOL, "urn", props)))
    assert "driver-mode-lost" in {finding.rule.name for finding in findings}


@pytest.mark.parametrize("block", [lambda value: value, lambda value: [value]])
def test_a_cluster_and_its_default_pool(block: Any):
    props = {
        "name": "aks",
        "resourceGroupName": "rg",
        "kubernetesVersion": "1.35",
        "defaultNodePool": block({"name": "system", "vmSize": "Standard_D4s_v5"}),
    }
    estate = read(PulumiResource(CLUSTER, "urn", props))
    (cluster,), (system,) = estate.clusters, estate.pools
    assert (cluster.name, cluster.kubernetes_version) == ("aks", "1.35")
    assert (system.name, system.mode, system.vm_size) == ("system", "System", "Standard_D4s_v5")
    assert cluster.is_meant_by(system.cluster) is True


@pytest.mark.parametrize("body", [BODY, json.dumps(BODY)])
@pytest.mark.parametrize(
    "address",
    [{"parentId": CLUSTER_ID, "name": "gpunp"}, {"resourceId": f"{CLUSTER_ID}/agentPools/gpunp"}],
)
def test_azapi(body: object, address: dict[str, str]):
    kind = "Microsoft.ContainerService/managedClusters/agentPools@2026-08-02-preview"
    found = pool("azapi:index/resource:Resource", {"type": kind, "body": body, **address})
    assert (found.name, found.cluster.name, found.cluster.resource_group) == ("gpunp", "aks", "rg")
    assert (found.driver_mode, found.form.api_version) == ("DRA", "2026-08-02-preview")


def test_other_resources_are_nobody_s_business():
    assert reader_for("azure:core/resourceGroup:ResourceGroup") is None
    assert reader_for("azapi:index/resourceAction:ResourceAction") is None
    storage = {"type": "Microsoft.Storage/storageAccounts@2023-01-01", "name": "x", "body": {}}
    assert not read(PulumiResource("azapi:index/resource:Resource", "urn", storage))
