import pytest

from twin.azure_native import bodies
from twin.azure_native.values import UNKNOWN
from twin.errors import TwinError

NVIDIA = {"managementMode": "Managed", "driverMode": "DRA", "migStrategy": "None", "migProfiles": ["MIG1g"]}
POOL = {
    "resourceGroupName": "rg",
    "resourceName": "aks",
    "agentPoolName": "gpunp",
    "azureApiVersion": "2025-09-01",
    "count": 1,
    "vmSize": "Standard_NC24ads_A100_v4",
    "gpuProfile": {"driver": "Install", "nvidia": NVIDIA},
    "madeUp": True,
}


@pytest.mark.parametrize(
    ("written", "gpu"),
    [
        ("azure-native:containerservice:AgentPool", {"driver": "Install"}),
        ("azure-native:containerservice/v20260501:AgentPool", {"driver": "Install"}),
        (
            "azure-native:containerservice/v20260502preview:AgentPool",
            {"driver": "Install", "nvidia": {"managementMode": "Managed", "migStrategy": "None"}},
        ),
        (
            "azure-native_containerservice_v20260502preview:containerservice:AgentPool",
            {"driver": "Install", "nvidia": {"managementMode": "Managed", "migStrategy": "None"}},
        ),
    ],
)
def test_keys_an_api_version_does_not_have_are_dropped_without_a_word(kind, written, gpu):
    body = bodies.request_body(kind(written).shape, POOL)
    assert body == {
        "properties": {"count": 1, "vmSize": "Standard_NC24ads_A100_v4", "gpuProfile": gpu},
    }


def test_inline_pools_lose_the_same_keys(kind):
    shape = kind("azure-native:containerservice/v20260502preview:ManagedCluster").shape
    profile = {"name": "gpu", "gpuProfile": {"nvidia": NVIDIA}, "upgradeStrategy": "BlueGreen"}
    body = bodies.request_body(shape, {"location": "eastus", "tags": {"a": "b"}, "agentPoolProfiles": [profile]})
    assert body["location"] == "eastus"
    assert body["tags"] == {"a": "b"}
    assert body["properties"]["agentPoolProfiles"] == [
        {
            "name": "gpu",
            "gpuProfile": {"nvidia": {"managementMode": "Managed", "migStrategy": "None"}},
            "upgradeStrategy": "BlueGreen",
        }
    ]


def test_the_generic_resource_sends_its_properties_untouched(kind):
    shape = kind("azure-native:resources:Resource").shape
    properties = {"gpuProfile": {"nvidia": NVIDIA}, "anything": [1, {"b": None}]}
    body = bodies.request_body(shape, {"apiVersion": "2026-08-02-preview", "properties": properties, "kind": "k"})
    assert body == {"properties": properties, "kind": "k"}


def test_outputs_are_lifted_out_of_properties(kind):
    shape = kind("azure-native:containerservice:AgentPool").shape
    answer = {
        "id": "/x",
        "name": "gpunp",
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "properties": {"type": "VirtualMachineScaleSets", "provisioningState": "Succeeded", "newField": 1},
    }
    assert bodies.outputs(shape, answer) == {
        "name": "gpunp",
        "type": "VirtualMachineScaleSets",
        "provisioningState": "Succeeded",
    }


def test_preview_outputs_are_the_inputs_and_the_rest_is_unknown(kind):
    shape = kind("azure-native:containerservice:AgentPool").shape
    outputs = bodies.preview_outputs(shape, {"count": 1, "gpuProfile": {"driver": UNKNOWN}})
    assert outputs["count"] == 1
    assert outputs["gpuProfile"] == {"driver": UNKNOWN}
    assert outputs["provisioningState"] is UNKNOWN
    assert outputs["name"] is UNKNOWN


def test_projection_leaves_out_what_can_not_be_set(kind):
    shape = kind("azure-native:containerservice:AgentPool").shape
    outputs = {"count": 1, "provisioningState": "Succeeded", "nodeImageVersion": "x", "name": "gpunp"}
    assert bodies.projected_inputs(shape, outputs) == {"count": 1}


def test_an_api_version_the_provider_does_not_have_is_an_error_that_lists_them(kind):
    with pytest.raises(TwinError, match=r"v20260602preview:AgentPool not found.*2026-05-02-preview\."):
        kind("azure-native:containerservice/v20260602preview:AgentPool")


def test_a_resource_the_twin_does_not_know_is_named(kind):
    with pytest.raises(TwinError, match=r"azure-native:network:VirtualNetwork not found.*containerservice:AgentPool"):
        kind("azure-native:network:VirtualNetwork")
