"""What `az aks` and ARM answer about clusters and pools."""

from typing import Any

import pytest

from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers import az_json

CLUSTER = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
POOL: dict[str, Any] = {
    "id": f"{CLUSTER}/agentPools/gpunp",
    "name": "gpunp",
    "type": "Microsoft.ContainerService/managedClusters/agentPools",
    "resourceGroup": "rg",
    "vmSize": "Standard_NC24ads_A100_v4",
    "osSku": "Ubuntu",
    "enableAutoScaling": False,
    "orchestratorVersion": "1.36",
    "currentOrchestratorVersion": "1.35.4",
    "gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed", "driverMode": "DRA"}},
    "nodeTaints": ["sku=gpu:NoSchedule"],
}
NESTED = {"id": POOL["id"], "name": "gpunp", "type": POOL["type"], "properties": {**POOL, "id": None, "name": None}}


@pytest.mark.parametrize("data", [POOL, [POOL], {"value": [POOL]}, {"value": [NESTED], "nextLink": None}, NESTED])
def test_a_pool_in_every_shape(data: object):
    assert az_json.recognises(data)
    reading = az_json.read(data, "pools.json")
    (pool,) = reading.estate.pools
    assert reading.unreadable == ()
    assert (pool.name, pool.cluster.name, pool.cluster.resource_group) == ("gpunp", "aks", "rg")
    assert (pool.management_mode, pool.driver_mode, pool.os_sku) == ("Managed", "DRA", "Ubuntu")
    assert pool.kubernetes_version == "1.35.4"  # what runs, not what is wanted
    assert (pool.form.kind, pool.form.api_version, pool.place.file) == ("live", None, "pools.json")
    assert pool.malformed == ()


@pytest.mark.parametrize(
    "shape", [lambda cluster: cluster, lambda cluster: [cluster], lambda cluster: {"value": [cluster]}]
)
def test_a_cluster_with_its_pools(shape: Any):
    cluster = {
        "id": CLUSTER,
        "name": "aks",
        "resourceGroup": "rg",
        "type": "Microsoft.ContainerService/ManagedClusters",
        "kubernetesVersion": "1.36",
        "currentKubernetesVersion": "1.35.4",
        "agentPoolProfiles": [{"name": "system", "vmSize": "Standard_D4s_v5", "mode": "System"}],
    }
    estate = az_json.read(shape(cluster), "f").estate
    (found,), (pool,) = estate.clusters, estate.pools
    assert (found.name, found.resource_group, found.kubernetes_version) == ("aks", "rg", "1.35.4")
    assert pool.name == "system"
    assert found.is_meant_by(pool.cluster) is True


@pytest.mark.parametrize("mode", ["Future", "", 1])
def test_a_management_mode_that_nobody_knows_is_not_taken_for_unmanaged(mode: object):
    (pool,) = az_json.read({**POOL, "gpuProfile": {"nvidia": {"managementMode": mode}}}, "f").estate.pools
    assert pool.management_mode is UNKNOWN
    assert [value.path for value in pool.malformed] == ["gpuProfile.nvidia.managementMode"]


@pytest.mark.parametrize("gpu", [None, {}, {"driver": None, "nvidia": None}])
def test_a_pool_without_gpu_settings(gpu: object):
    (pool,) = az_json.read({**POOL, "gpuProfile": gpu}, "f").estate.pools
    assert (pool.gpu_driver, pool.management_mode, pool.malformed) == (None, None, ())


def test_an_empty_answer_is_not_a_pass():
    assert az_json.recognises({"value": []})
    (problem,) = az_json.read({"value": []}, "f").unreadable
    assert problem.file == "f"


def test_a_strange_element_is_said():
    reading = az_json.read([POOL, None, {"name": "vm"}], "f")
    assert len(reading.estate.pools) == 1
    assert [problem.message[:9] for problem in reading.unreadable] == ["Element 1", "Element 2"]


@pytest.mark.parametrize(
    "data", [None, [], {}, [{}], "x", {"value": [{"name": "disk", "type": "Microsoft.Compute/disks"}]}]
)
def test_other_answers_are_nobody_s_business(data: object):
    assert not az_json.recognises(data)


def test_sizes_of_scale_profiles():
    def sized(**scale: object) -> tuple[object, object, object]:
        profile = {"scale": scale}
        data = {key: value for key, value in POOL.items() if key not in ("vmSize", "enableAutoScaling")}
        (pool,) = az_json.read({**data, "virtualMachinesProfile": profile}, "f").estate.pools
        return pool.vm_size, pool.count, pool.autoscaling

    size = "Standard_NC24ads_A100_v4"
    assert sized(manual=[{"size": size, "count": 2}, {"size": size, "count": 1}]) == (size, 3, None)
    assert sized(autoscale=[{"size": size, "minCount": 0, "maxCount": 3}]) == (size, None, True)
    assert sized(autoscale={"size": size, "minCount": 0, "maxCount": 3}) == (size, None, True)
    assert sized(manual=[{"size": size, "count": 2}, {"size": "Standard_D4s_v5", "count": 1}])[0] is UNKNOWN
