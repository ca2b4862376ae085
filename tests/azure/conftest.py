"""One endpoint for all tests of Azure's side, and the clients."""

from collections.abc import Iterator
from typing import Any

import pytest
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.containerservice import ContainerServiceClient
from azure.mgmt.resource.features import FeatureClient
from azure.mgmt.resource.resources import ResourceManagementClient

from tests.azure.harness import FAST, GROUP, Endpoint, cluster_body


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """One endpoint for all tests, each with clusters of its own."""
    running = Endpoint(tmp_path_factory.mktemp("azure") / "twin")
    running.client(ResourceManagementClient).resource_groups.create_or_update(GROUP, {"location": "eastus"})
    running.client(FeatureClient).features.register("Microsoft.ContainerService", "ManagedGPUExperiencePreview")
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def no_faults(endpoint: Endpoint) -> Iterator[None]:
    """Switch off every fault and setting that a test changed."""
    yield
    endpoint.folder.faults.unlink(missing_ok=True)
    endpoint.azure.service.store.put_settings(FAST)
    endpoint.azure.throttle._tokens.clear()


@pytest.fixture(scope="session")
def aks(endpoint: Endpoint) -> Any:
    return endpoint.client(ContainerServiceClient)


@pytest.fixture(scope="session")
def compute(endpoint: Endpoint) -> Any:
    return endpoint.client(ComputeManagementClient)


@pytest.fixture(scope="session")
def resources(endpoint: Endpoint) -> Any:
    return endpoint.client(ResourceManagementClient)


@pytest.fixture(scope="session")
def make_cluster(aks: Any) -> Any:
    """Create a cluster and wait for it."""

    def make(name: str, version: str | None = "1.35", **properties: Any) -> Any:
        return aks.managed_clusters.begin_create_or_update(GROUP, name, cluster_body(version, **properties)).result()

    return make


@pytest.fixture(scope="module")
def cluster(make_cluster: Any, request: pytest.FixtureRequest) -> str:
    """A cluster at 1.35 for the tests of one module; returns its name."""
    name = request.module.__name__.rpartition(".")[2].replace("_", "-")
    make_cluster(name)
    return name


@pytest.fixture(scope="module")
def put_pool(aks: Any, cluster: str) -> Any:
    """Create or change a pool of the module's cluster and wait."""

    def put(name: str, on: str = cluster, **properties: Any) -> Any:
        return aks.agent_pools.begin_create_or_update(GROUP, on, name, {"properties": properties}).result()

    return put
