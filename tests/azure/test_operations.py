"""Long-running operations: pollers to their end, conflicts, abort, and a restart in the middle."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.containerservice import ContainerServiceClient
from azure.mgmt.resource.resources import ResourceManagementClient

from tests.azure.harness import A100, DRA, FAST, GROUP, Endpoint, cluster_body, eventually

CPU = {"properties": {"vmSize": "Standard_D4s_v5", "count": 1}}


@pytest.fixture
def unready(endpoint: Endpoint, cluster: str) -> Iterator[set[str]]:
    """Pools whose nodes don't become Ready: operations on them last until they are taken out."""
    pools = endpoint.cluster(cluster).not_ready
    yield pools
    pools.clear()


def test_a_poller_sees_the_states_on_the_way(aks: Any, endpoint: Endpoint, cluster: str, unready: set[str]) -> None:
    unready.add("states")
    poller = aks.agent_pools.begin_create_or_update(GROUP, cluster, "states", CPU)
    assert aks.agent_pools.get(GROUP, cluster, "states").properties.provisioning_state == "Creating"
    assert poller.status() == "InProgress"
    unready.clear()
    assert poller.result().properties.provisioning_state == "Succeeded"


def test_a_failed_operation_raises_and_shows_in_the_pool(aks: Any, endpoint: Endpoint, cluster: str) -> None:
    endpoint.fault("pool-failed", "fails")
    poller = aks.agent_pools.begin_create_or_update(GROUP, cluster, "fails", CPU)
    with pytest.raises(HttpResponseError) as caught:
        poller.result()
    assert caught.value.error is not None
    assert caught.value.error.code == "ReconcileVMSSAgentPoolFailed"
    assert aks.agent_pools.get(GROUP, cluster, "fails").properties.provisioning_state == "Failed"
    endpoint.folder.faults.unlink()
    again = aks.agent_pools.begin_create_or_update(GROUP, cluster, "fails", CPU).result()
    assert again.properties.provisioning_state == "Succeeded"


def test_nodes_that_never_get_ready_fail_the_operation(
    aks: Any, endpoint: Endpoint, cluster: str, unready: set[str]
) -> None:
    endpoint.azure.service.store.put_settings(FAST.model_copy(update={"ready_seconds": 0.2}))
    unready.add("never")
    with pytest.raises(HttpResponseError, match=r"1 nodes are not Ready after 0\.2 seconds: aks-never-"):
        aks.agent_pools.begin_create_or_update(GROUP, cluster, "never", CPU).result()


def test_machines_that_can_not_be_had_fail_the_pool(aks: Any, endpoint: Endpoint, cluster: str) -> None:
    endpoint.fault("allocation-failed")
    with pytest.raises(HttpResponseError) as caught:
        aks.agent_pools.begin_create_or_update(GROUP, cluster, "nospace", CPU).result()
    assert caught.value.error is not None
    assert caught.value.error.code == "AllocationFailed"


def test_one_operation_at_a_time(aks: Any, endpoint: Endpoint, cluster: str, unready: set[str]) -> None:
    unready.add("busy")
    poller = aks.agent_pools.begin_create_or_update(GROUP, cluster, "busy", CPU)
    cases = {
        "Another operation (Creating) is in progress": lambda: aks.agent_pools.begin_create_or_update(
            GROUP, cluster, "busy", CPU
        ),
        "Another agentpool operation (busy - Creating) is in progress": lambda: (
            aks.managed_clusters.begin_create_or_update(GROUP, cluster, cluster_body())
        ),
    }
    for text, call in cases.items():
        with pytest.raises(HttpResponseError) as caught:
            call()
        assert caught.value.error is not None
        assert (caught.value.status_code, caught.value.error.code) == (409, "OperationNotAllowed")
        assert text in caught.value.message
    other = aks.agent_pools.begin_create_or_update(GROUP, cluster, "other", CPU)
    assert other.result().properties.provisioning_state == "Succeeded"
    unready.clear()
    poller.result()


def test_abort_ends_as_canceled_and_the_next_put_goes_on(
    aks: Any, endpoint: Endpoint, cluster: str, unready: set[str]
) -> None:
    unready.add("aborted")
    poller = aks.agent_pools.begin_create_or_update(GROUP, cluster, "aborted", CPU)
    aks.agent_pools.begin_abort_latest_operation(GROUP, cluster, "aborted").result()
    with pytest.raises(HttpResponseError):
        poller.result()
    assert poller.status() == "Canceled"
    assert aks.agent_pools.get(GROUP, cluster, "aborted").properties.provisioning_state == "Canceled"
    unready.clear()
    assert aks.agent_pools.begin_create_or_update(GROUP, cluster, "aborted", {"properties": {}}).result()


def test_a_dra_pool_can_come_out_in_the_wrong_mode(aks: Any, endpoint: Endpoint, cluster: str) -> None:
    endpoint.fault("wrong-driver-mode")
    body = {"properties": {"vmSize": A100, "count": 1, "gpuProfile": DRA}}
    pool = aks.agent_pools.begin_create_or_update(GROUP, cluster, "wrong", body).result()
    assert pool.properties.provisioning_state == "Succeeded"
    assert pool.properties.gpu_profile.nvidia.driver_mode == "DevicePlugin"
    node = next(node for node in endpoint.cluster(cluster).plan.nodes if node.pool == "wrong")
    assert node.gpu_mode == "device-plugin"


def test_deleting_a_group_takes_its_clusters_along(resources: Any, aks: Any, endpoint: Endpoint) -> None:
    resources.resource_groups.create_or_update("rg-gone", {"location": "eastus"})
    assert resources.resource_groups.check_existence("rg-gone")
    aks.managed_clusters.begin_create_or_update("rg-gone", "gone", cluster_body()).result()
    machines = dict(endpoint.backend.clusters)
    resources.resource_groups.begin_delete("rg-gone").result()
    assert not resources.resource_groups.check_existence("rg-gone")
    assert len(machines) - len(endpoint.backend.clusters) == 1
    assert "gone" not in {found.name for found in aks.managed_clusters.list()}


def test_a_cluster_can_be_deleted_while_something_is_done_to_it(
    aks: Any, endpoint: Endpoint, make_cluster: Any
) -> None:
    make_cluster("short")
    endpoint.cluster("short").not_ready.add("stuck")
    poller = aks.agent_pools.begin_create_or_update(GROUP, "short", "stuck", CPU)
    aks.managed_clusters.begin_delete(GROUP, "short").result()
    with pytest.raises(HttpResponseError):
        poller.result()
    aks.managed_clusters.begin_delete(GROUP, "short").result()


def test_an_operation_goes_on_after_a_restart(tmp_path: Path) -> None:
    endpoint = Endpoint(tmp_path / "twin")
    resources = endpoint.client(ResourceManagementClient)
    resources.resource_groups.create_or_update(GROUP, {"location": "eastus"})
    aks = endpoint.client(ContainerServiceClient)
    aks.managed_clusters.begin_create_or_update(GROUP, "kept", cluster_body()).result()
    machines = endpoint.cluster("kept")
    machines.not_ready.add("slow")
    poller = aks.agent_pools.begin_create_or_update(GROUP, "kept", "slow", CPU)
    eventually(lambda: any(node.pool == "slow" for node in machines.plan.nodes))
    token = poller.continuation_token()
    endpoint.stop()
    endpoint.start()
    try:
        assert aks.agent_pools.get(GROUP, "kept", "slow").properties.provisioning_state == "Creating"
        machines.not_ready.clear()
        resumed = aks.agent_pools.begin_create_or_update(GROUP, "kept", "slow", CPU, continuation_token=token)
        assert resumed.result().properties.provisioning_state == "Succeeded"
    finally:
        endpoint.stop()
