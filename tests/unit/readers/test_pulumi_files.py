"""Pulumi states and previews as files."""

from typing import Any

import pytest

from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers import pulumi_files

POOL_TYPE = "azure-native:containerservice:AgentPool"
POOL_URN = f"urn:pulumi:dev::p::{POOL_TYPE}::gpu"
CLUSTER_URN = "urn:pulumi:dev::p::azure-native:containerservice:ManagedCluster::aks"
CLUSTER_ID = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
UNKNOWN_MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:x"}


def pool(**inputs: Any) -> dict[str, Any]:
    named = {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "gpunp", **inputs}
    return {"urn": POOL_URN, "custom": True, "type": POOL_TYPE, "inputs": named}


def mode(word: object) -> dict[str, Any]:
    return {"gpuProfile": {"nvidia": {"managementMode": "Managed", "driverMode": word}}}


def state(*resources: object) -> dict[str, Any]:
    return {"version": 3, "deployment": {"manifest": {}, "resources": list(resources)}}


def preview(*steps: object) -> dict[str, Any]:
    return {"config": {}, "steps": list(steps), "changeSummary": {}}


def step(op: str, old: object = None, new: object = None) -> dict[str, Any]:
    return {"op": op, "urn": POOL_URN, "oldState": old, "newState": new}


def test_a_state():
    data = state(pool(**mode("DRA")))
    assert pulumi_files.recognises(data)
    reading = pulumi_files.read(data, "state.json")
    (found,) = reading.estate.pools
    assert (found.name, found.driver_mode, found.place.object) == ("gpunp", "DRA", POOL_URN)
    assert (found.place.file, found.place.path) == ("state.json", "deployment.resources[0]")
    assert reading.unreadable == ()


def test_secrets_and_what_is_about_to_be_deleted():
    (found,) = pulumi_files.read(state(pool(**mode(SECRET)), {**pool(), "delete": True}), "f").estate.pools
    assert found.driver_mode is UNKNOWN


def test_an_imported_resource_has_outputs_and_an_id_only():
    outputs = {"name": "gpunp", **mode("DRA")}
    data = {"urn": POOL_URN, "type": POOL_TYPE, "id": f"{CLUSTER_ID}/agentPools/gpunp", "outputs": outputs}
    (found,) = pulumi_files.read(state(data), "f").estate.pools
    assert (found.name, found.cluster.name, found.driver_mode) == ("gpunp", "aks", "DRA")


def test_pools_are_linked_to_the_cluster_that_they_depend_on():
    cluster = {
        "urn": CLUSTER_URN,
        "type": "azure-native:containerservice:ManagedCluster",
        "inputs": {"resourceGroupName": "rg", "kubernetesVersion": "1.35"},
    }
    waiting = {**pool(resourceName=UNKNOWN_MARK), "propertyDependencies": {"resourceName": [CLUSTER_URN]}}
    (found,) = pulumi_files.read(preview(step("create", new=waiting), step("create", new=cluster)), "f").estate.pools
    assert found.cluster.object == CLUSTER_URN


def test_objects_belong_to_the_cluster_of_their_provider():
    provider = "urn:pulumi:dev::p::pulumi:providers:kubernetes::k8s"
    chart = {
        "urn": "urn:pulumi:dev::p::kubernetes:helm.sh/v3:Release::operator",
        "type": "kubernetes:helm.sh/v3:Release",
        "inputs": {"chart": "gpu-operator"},
        "provider": f"{provider}::id-1",
    }
    data = {"urn": provider, "type": "pulumi:providers:kubernetes", "inputs": {"clusterIdentifier": CLUSTER_ID}}
    (found,) = pulumi_files.read(state(data, chart), "f").estate.components
    assert (found.cluster.name, found.place.file) == ("aks", "f")


def test_a_preview_has_what_it_would_leave():
    old, new = pool(**mode("DevicePlugin")), pool(**mode("DRA"))
    for op, left, changed in (
        ("create", 1, 0),
        ("same", 1, 0),
        ("update", 1, 1),
        ("create-replacement", 1, 0),
        ("delete", 0, 0),
        ("delete-replaced", 0, 0),
    ):
        data = preview(step(op, old, new if op not in ("delete", "delete-replaced") else None))
        assert pulumi_files.recognises(data)
        reading = pulumi_files.read(data, "f")
        assert (len(reading.estate.pools), len(reading.estate.changes), reading.unreadable) == (left, changed, ()), op
    (change,) = pulumi_files.read(preview(step("update", old, new)), "f").estate.changes
    assert (change.before.driver_mode, change.after.driver_mode) == ("DevicePlugin", "DRA")


def test_a_replacement_counts_once():
    new = pool(**mode("DRA"))
    steps = (step("create-replacement", pool(), new), step("replace", pool(), new), step("delete-replaced", pool()))
    reading = pulumi_files.read(preview(*steps), "f")
    assert len(reading.estate.pools) == 1
    assert reading.estate.changes == ()


@pytest.mark.parametrize("word", [UNKNOWN_MARK, "[secret]"])
def test_what_a_preview_does_not_say_is_unknown(word: str):
    (found,) = pulumi_files.read(preview(step("create", new=pool(**mode(word)))), "f").estate.pools
    assert found.driver_mode is UNKNOWN


def test_pools_inside_a_cluster_are_paired_by_name():
    def cluster(*words: str) -> dict[str, Any]:
        profiles = [{"name": f"p{index}", **mode(word)} for index, word in enumerate(words)]
        inputs = {"resourceName": "aks", "agentPoolProfiles": profiles}
        return {"urn": CLUSTER_URN, "type": "azure-native:containerservice:ManagedCluster", "inputs": inputs}

    data = preview({"op": "update", "oldState": cluster("DRA"), "newState": cluster("DevicePlugin", "DRA")})
    estate = pulumi_files.read(data, "f").estate
    (change,), (whole,) = estate.changes, estate.cluster_changes
    assert (change.before.driver_mode, change.after.driver_mode) == ("DRA", "DevicePlugin")
    assert whole.after.name == "aks"


def test_an_event_of_a_preview_that_is_printed_as_it_goes():
    metadata = {"op": "create", "urn": POOL_URN, "type": POOL_TYPE, "new": pool(**mode("DRA"))}
    data = {"sequence": 1, "timestamp": 2, "resourcePreEvent": {"metadata": metadata, "planning": True}}
    assert pulumi_files.recognises(data)
    (found,) = pulumi_files.read(data, "f").estate.pools
    assert found.driver_mode == "DRA"
    other = {"sequence": 2, "timestamp": 2, "summaryEvent": {}}
    assert pulumi_files.recognises(other)
    assert not pulumi_files.read(other, "f").estate


@pytest.mark.parametrize(
    "data",
    [
        {"version": 3, "deployment": None},
        state(None),
        state({"urn": 1, "type": POOL_TYPE}),
        {"steps": {}, "config": {}},
        preview(None),
        preview(step("create")),
    ],
)
def test_what_cannot_be_read_is_said_with_a_way_out(data: dict[str, Any]):
    (problem,) = pulumi_files.read(data, "state.json").unreadable
    assert problem.file == "state.json"
    assert "pulumi stack export" in problem.message


def test_a_stack_that_was_never_deployed_is_empty():
    reading = pulumi_files.read({"version": 3, "deployment": {"manifest": {}}}, "f")
    assert (bool(reading.estate), reading.unreadable) == (False, ())


@pytest.mark.parametrize("data", [None, [], {}, {"steps": []}, {"version": 3}, {"apiVersion": "v1", "kind": "Pod"}])
def test_other_files_are_nobody_s_business(data: object):
    assert not pulumi_files.recognises(data)
