import pytest

from twin.azure_native import diff
from twin.azure_native.diff import Change
from twin.azure_native.values import UNKNOWN

POOL = {"agentPoolName": "gpunp", "resourceName": "aks", "vmSize": "A", "count": 1, "nodeTaints": ["a", "b"]}
POOL_TOKEN = "azure-native:containerservice:AgentPool"
CLUSTER_TOKEN = "azure-native:containerservice:ManagedCluster"
GENERIC_TOKEN = "azure-native:resources:Resource"


def test_nothing_changed(kind):
    plan = diff.plan(kind(POOL_TOKEN).resource, POOL | {"__createBeforeDelete": True}, POOL, {})
    assert plan.changes == ()


@pytest.mark.parametrize(
    ("token", "old", "new", "expected"),
    [
        (POOL_TOKEN, {"count": 1}, {"count": 2}, [("count", "update", False)]),
        (POOL_TOKEN, {"vmSize": "A"}, {"vmSize": "B"}, [("vmSize", "update", True)]),
        (POOL_TOKEN, {"vmSize": "A"}, {"vmSize": UNKNOWN}, [("vmSize", "update", True)]),
        (POOL_TOKEN, {"resourceName": "a"}, {"resourceName": "b"}, [("resourceName", "update", True)]),
        (POOL_TOKEN, {"agentPoolName": "a"}, {"agentPoolName": "b"}, [("agentPoolName", "update", True)]),
        (POOL_TOKEN, {"nodeTaints": ["a"]}, {"nodeTaints": ["a", "b"]}, [("nodeTaints[1]", "add", False)]),
        (
            POOL_TOKEN,
            {"gpuProfile": {"driver": "Install"}},
            {"gpuProfile": {"driver": "None"}},
            [("gpuProfile.driver", "update", False)],
        ),
        (
            POOL_TOKEN,
            {"nodeLabels": {"kubernetes.io/a": "1"}},
            {"nodeLabels": {}},
            [('nodeLabels["kubernetes.io/a"]', "delete", False)],
        ),
        (
            CLUSTER_TOKEN,
            {"networkProfile": {"podCidr": "a", "loadBalancerSku": "x"}},
            {"networkProfile": {"podCidr": "b", "loadBalancerSku": "y"}},
            [
                ("networkProfile.loadBalancerSku", "update", False),
                ("networkProfile.podCidr", "update", True),
            ],
        ),
        (
            CLUSTER_TOKEN,
            {"linuxProfile": {"adminUsername": "a"}},
            {"linuxProfile": {"adminUsername": "b"}},
            [("linuxProfile.adminUsername", "update", True)],
        ),
        (CLUSTER_TOKEN, {"location": "East US"}, {"location": "eastus"}, []),
        (CLUSTER_TOKEN, {"location": "eastus"}, {"location": "westus"}, [("location", "update", True)]),
        (
            GENERIC_TOKEN,
            {"properties": {"gpuProfile": {"nvidia": {"driverMode": "DRA"}}}},
            {"properties": {"gpuProfile": {"nvidia": {"driverMode": "DevicePlugin"}}}},
            [("properties.gpuProfile.nvidia.driverMode", "update", False)],
        ),
        (
            GENERIC_TOKEN,
            {"parentResourcePath": "managedClusters/a"},
            {"parentResourcePath": "managedClusters/b"},
            [("parentResourcePath", "update", True)],
        ),
        (GENERIC_TOKEN, {"apiVersion": "a"}, {"apiVersion": "b"}, [("apiVersion", "update", False)]),
    ],
)
def test_leaves_and_replacements(kind, token, old, new, expected):
    plan = diff.plan(kind(token).resource, old, new, {})
    assert plan.changes == tuple(Change(*change) for change in expected)
    assert plan.delete_first is any(replaces for _, _, replaces in expected)


def test_a_randomly_named_resource_is_replaced_create_first(kind):
    resource = kind(CLUSTER_TOKEN).resource
    old = {"dnsPrefix": "a", "__createBeforeDelete": True}
    assert diff.plan(resource, old, {"dnsPrefix": "b"}, {}).delete_first is False


def test_an_imported_resource_does_not_differ_in_its_api_version(kind):
    new = {"count": 1, "azureApiVersion": "2025-09-01"}
    assert diff.plan(kind(POOL_TOKEN).resource, {"count": 1}, new, {"azureApiVersion": "2025-09-01"}).changes == ()


def test_writing_down_what_azure_had_chosen_does_not_replace(kind):
    resource = kind(POOL_TOKEN).resource
    assert not diff.plan(resource, {}, {"vmSize": "A"}, {"vmSize": "A"}).changes[0].replaces
    assert diff.plan(resource, {}, {"vmSize": "B"}, {"vmSize": "A"}).changes[0].replaces


@pytest.mark.parametrize(
    ("inputs", "old", "new", "expected"),
    [
        pytest.param(
            {"count": 1}, {"count": 1, "mode": "User"}, {"count": 3, "mode": "User"}, {"count": 3}, id="changed"
        ),
        pytest.param(
            {"count": 1}, {"count": 1}, {"count": 1, "tags": {"a": "b"}}, {"count": 1, "tags": {"a": "b"}}, id="added"
        ),
        pytest.param(
            {"count": 1, "tags": {"a": "b"}}, {"count": 1, "tags": {"a": "b"}}, {"count": 1}, {"count": 1}, id="removed"
        ),
        pytest.param(
            {"gpuProfile": {"nvidia": {"driverMode": "DRA"}}},
            {"gpuProfile": {"driver": "Install", "nvidia": {"driverMode": "DRA", "migStrategy": "None"}}},
            {"gpuProfile": {"driver": "Install", "nvidia": {"driverMode": "DevicePlugin", "migStrategy": "None"}}},
            {"gpuProfile": {"nvidia": {"driverMode": "DevicePlugin"}}},
            id="defaults stay out",
        ),
        pytest.param(
            {"pools": [{"name": "a"}]},
            {"pools": [{"name": "a", "count": 1}]},
            {"pools": [{"name": "a", "count": 1}, {"name": "b", "count": 2}]},
            {"pools": [{"name": "a"}, {"name": "b", "count": 2}]},
            id="list",
        ),
        pytest.param(
            {"dropped": 1, "count": 1}, {"count": 1}, {"count": 1}, {"dropped": 1, "count": 1}, id="never there"
        ),
    ],
)
def test_drift_changes_only_what_azure_changed(inputs, old, new, expected):
    assert diff.apply(inputs, old, new) == expected
