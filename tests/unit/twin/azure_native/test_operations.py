import pytest

from tests.unit.twin.azure_native.azure_stub import Answer
from tests.unit.twin.azure_native.conftest import SUBSCRIPTION
from twin.azure_native import ids
from twin.azure_native.operations import PartialError
from twin.azure_native.values import UNKNOWN
from twin.errors import TwinError

CLUSTER = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
POOL = f"{CLUSTER}/agentPools/gpunp"
INPUTS = {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "gpunp", "count": 1}
GENERIC = {
    "resourceGroupName": "rg",
    "resourceProviderNamespace": "Microsoft.ContainerService",
    "parentResourcePath": "managedClusters/aks",
    "resourceType": "agentPools",
    "resourceName": "gpunp",
    "apiVersion": "2026-08-02-preview",
    "properties": {"count": 1, "gpuProfile": {"nvidia": {"driverMode": "DRA"}}},
}
POOL_TOKEN = "azure-native:containerservice:AgentPool"
GENERIC_TOKEN = "azure-native:resources:Resource"


def silent(_):
    pass


def test_create_asks_first_and_uses_the_kind_s_version(azure, operations, kind):
    id_, state = operations.create(kind(POOL_TOKEN), INPUTS, 0, silent)
    assert id_ == POOL
    assert state == {"name": "gpunp", "count": 1, "azureApiVersion": "2025-09-01"}
    assert [(request.method, request.query["api-version"]) for request in azure.requests] == [
        ("GET", "2025-09-01"),
        ("PUT", "2025-09-01"),
        ("GET", "2025-09-01"),
    ]


def test_the_generic_resource_uses_the_program_s_version(azure, operations, kind):
    id_, state = operations.create(kind(GENERIC_TOKEN), GENERIC, 0, silent)
    assert id_ == POOL
    assert state["properties"] == GENERIC["properties"]
    operations.delete(kind(GENERIC_TOKEN), id_, GENERIC, 0, silent)
    assert {request.query["api-version"] for request in azure.requests} == {"2026-08-02-preview"}
    assert azure.resources == {}


def test_an_existing_resource_is_not_taken(azure, operations, kind):
    azure.resources[POOL] = {"id": POOL}
    with pytest.raises(TwinError, match=f"cannot create already existing resource '{POOL}'"):
        operations.create(kind(POOL_TOKEN), INPUTS, 0, silent)
    assert azure.sent("PUT") == []


def test_a_feature_always_exists(azure, operations, kind):
    feature = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Features/featureProviders/Microsoft.ContainerService"
    path = f"{feature}/subscriptionFeatureRegistrations/F"
    azure.resources[path] = {"properties": {"state": "NotRegistered"}}
    inputs = {"providerNamespace": "Microsoft.ContainerService", "featureName": "F"}
    with pytest.raises(TwinError, match="cannot create already existing resource"):
        operations.create(kind("azure-native:features:SubscriptionFeatureRegistration"), inputs, 0, silent)


def test_a_failed_operation_keeps_what_azure_has(azure, operations, kind):
    azure.script("PUT", POOL, Answer(201, {}, {"Azure-AsyncOperation": f"{azure.endpoint}/op"}))
    azure.script("GET", "/op", Answer(200, {"status": "Failed", "error": {"code": "Quota", "message": "none left"}}))
    azure.script("GET", POOL, Answer(404), Answer(200, {"id": POOL, "properties": {"provisioningState": "Failed"}}))
    with pytest.raises(PartialError) as raised:
        operations.create(kind(POOL_TOKEN), INPUTS, 0, silent)
    assert raised.value.id == POOL
    assert raised.value.state["provisioningState"] == "Failed"
    assert raised.value.inputs == INPUTS
    assert raised.value.reason == 'Status=200 Code="Quota" Message="none left"'


def test_a_lost_connection_after_acceptance_keeps_the_resource(azure, operations, kind):
    azure.script("PUT", POOL, Answer(201, {}, {"Azure-AsyncOperation": "http://127.0.0.1:9/op"}))
    with pytest.raises(PartialError) as raised:
        operations.create(kind(POOL_TOKEN), INPUTS, 0, silent)
    assert raised.value.id == POOL
    assert "does not answer" in raised.value.reason


def test_a_refresh_brings_in_drift_only(azure, operations, kind):
    azure.resources[POOL] = {"id": POOL, "properties": {"count": 3, "mode": "User"}}
    live = operations.read(kind(POOL_TOKEN), POOL, INPUTS, {"count": 1, "mode": "User"})
    assert live.inputs == INPUTS | {"count": 3}
    assert live.state["mode"] == "User"


def test_what_is_gone_is_none(operations, kind):
    assert operations.read(kind(POOL_TOKEN), POOL, INPUTS, {}) is None


def test_an_import_takes_inputs_from_id_and_azure(azure, operations, kind):
    azure.resources[POOL] = {"id": POOL, "properties": {"count": 2, "provisioningState": "Succeeded"}}
    live = operations.read(kind(POOL_TOKEN), POOL, None, {})
    assert live.inputs == INPUTS | {"count": 2}


def test_a_preview_of_an_update_knows_name_and_location(operations, kind):
    cluster = kind("azure-native:containerservice:ManagedCluster")
    outputs = operations.preview_update(cluster, {"dnsPrefix": "a"}, {"name": "aks", "location": "eastus"})
    assert (outputs["name"], outputs["location"], outputs["dnsPrefix"]) == ("aks", "eastus", "a")
    assert outputs["fqdn"] is UNKNOWN


def test_the_region_of_a_group(azure, operations):
    azure.resources[f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg"] = {"location": "eastus"}
    assert [operations.group_location("rg") for _ in range(3)] == ["eastus"] * 3
    assert len(azure.requests) == 1
    assert operations.group_location("absent") is None


@pytest.mark.parametrize(
    ("token", "id_", "inputs"),
    [
        (POOL_TOKEN, POOL, {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "gpunp"}),
        (POOL_TOKEN, POOL.replace("resourceGroups", "resourcegroups"), None),
        (
            GENERIC_TOKEN,
            CLUSTER,
            {
                "resourceGroupName": "rg",
                "resourceProviderNamespace": "Microsoft.ContainerService",
                "parentResourcePath": "",
                "resourceType": "managedClusters",
                "resourceName": "aks",
            },
        ),
    ],
)
def test_ids_read_back(kind, token, id_, inputs):
    found = ids.inputs_of_id(kind(token).resource, id_)
    assert inputs is None or found == inputs
    assert ids.resource_id(kind(token).resource, found, SUBSCRIPTION).lower() == id_.lower()


def test_an_id_of_something_else_is_refused(kind):
    with pytest.raises(TwinError, match="is not the id of such a resource"):
        ids.inputs_of_id(kind(POOL_TOKEN).resource, CLUSTER)
