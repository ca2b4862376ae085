import pytest

from twin.azure_native import checks, naming
from twin.azure_native.naming import Naming
from twin.azure_native.values import UNKNOWN

PATH = {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "gpunp"}


def failures(kind, inputs):
    return checks.failures(kind.resource, kind.shape, inputs)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({}, []),
        ({"count": UNKNOWN, "gpuProfile": {"driver": UNKNOWN}}, []),
        ({"gpuProfile": {"driver": "Banana", "unknownKey": 1}}, []),
        ({"count": "two"}, ["'count' should be of type 'integer' but got a string"]),
        ({"count": 1.5}, ["'count' must be an integer but got 1.500000"]),
        ({"vmSize": 4}, ["'vmSize' should be of type 'string' but got a number"]),
        ({"nodeTaints": ["a", 5]}, ["'nodeTaints[1]' should be of type 'string' but got a number"]),
        ({"vmSize": ["a"]}, ["'vmSize' should be of type 'string' but got an array"]),
    ],
)
def test_bodies(kind, inputs, expected):
    assert failures(kind("azure-native:containerservice:AgentPool"), PATH | inputs) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a", []),
        ("gpu-np", ["'agentPoolName' does not match expression '^[a-z][a-z0-9]{0,11}$'"]),
        (
            "gpupoolnumber1",
            [
                "'agentPoolName' is too long (14): at most 12 characters allowed",
                "'agentPoolName' does not match expression '^[a-z][a-z0-9]{0,11}$'",
            ],
        ),
        (UNKNOWN, []),
    ],
)
def test_names(kind, name, expected):
    pool = kind("azure-native:containerservice:AgentPool")
    assert failures(pool, PATH | {"agentPoolName": name}) == expected


def test_what_is_required(kind):
    cluster = kind("azure-native:containerservice:ManagedCluster")
    inputs = {"resourceName": "aks", "agentPoolProfiles": [{"count": 1}]}
    assert failures(cluster, inputs) == [
        "missing required property 'resourceGroupName'",
        (
            "missing required property 'location'. Either set it explicitly or configure it with "
            "'pulumi config set azure-native:location <value>'."
        ),
        "missing required property 'agentPoolProfiles[0].name'",
    ]
    generic = kind("azure-native:resources:Resource")
    assert "missing required property 'apiVersion'" in failures(generic, {})


def test_a_missing_name_is_made_up_as_the_provider_does(kind):
    cluster = kind("azure-native:containerservice:ManagedCluster").resource
    pool = kind("azure-native:containerservice:AgentPool").resource
    random, copied = {}, {}
    naming.fill_name(cluster, {}, random, Naming("aks", b"seed"))
    naming.fill_name(pool, {}, copied, Naming("gpunp", b"seed"))
    assert random["resourceName"].startswith("aks")
    assert len(random["resourceName"]) == len("aks") + 8
    assert random["__createBeforeDelete"] is True
    assert copied == {"agentPoolName": "gpunp"}


def test_a_made_up_name_is_kept(kind):
    cluster = kind("azure-native:containerservice:ManagedCluster").resource
    news = {}
    naming.fill_name(cluster, {"resourceName": "aks1", "__createBeforeDelete": True}, news, Naming("aks"))
    assert news == {"resourceName": "aks1", "__createBeforeDelete": True}


def test_names_by_the_stack_s_configuration(kind):
    cluster = kind("azure-native:containerservice:ManagedCluster").resource
    enforced, disabled = {}, {}
    naming.fill_name(cluster, {}, enforced, Naming("aks", mode="enforce", proposed="mine"))
    naming.fill_name(cluster, {}, disabled, Naming("aks", mode="disable"))
    assert enforced["resourceName"] == "mine"
    assert disabled == {}


@pytest.mark.parametrize(
    ("olds", "news", "configured", "expected"),
    [
        ({}, {"location": "westus"}, "northeurope", "westus"),
        ({"location": "westus"}, {}, "northeurope", "westus"),
        ({}, {"resourceGroupName": "rg"}, "northeurope", "northeurope"),
        ({}, {"resourceGroupName": "rg"}, None, "eastus"),
        ({}, {"resourceGroupName": UNKNOWN}, None, UNKNOWN),
        ({}, {"resourceGroupName": "absent"}, None, None),
    ],
)
def test_where_a_location_comes_from(kind, olds, news, configured, expected):
    shape = kind("azure-native:containerservice:ManagedCluster").shape
    inputs = dict(news)
    naming.fill_location(shape, olds, inputs, configured, {"rg": "eastus"}.get)
    assert inputs.get("location") is expected or inputs.get("location") == expected


def test_a_pool_has_no_location(kind):
    inputs = {}
    naming.fill_location(kind("azure-native:containerservice:AgentPool").shape, {}, inputs, "eastus", {}.get)
    assert inputs == {}
