"""One cluster at 1.35 for all tests that only need some cluster."""

import itertools
from collections.abc import Iterator

import pytest

from tests.cluster.harness import DEVICE_CLASS, Cluster, node, running

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that all tests share; use `cluster`, which starts each test from the same nodes."""
    with running(tmp_path_factory.mktemp("clusters") / "nodes", "1.35.4", [node("aks-gpunp-0", "gpunp")]) as cluster:
        cluster.apply(DEVICE_CLASS)
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    """The shared cluster with one DRA node in pool gpunp, one device-plugin node of two GPUs and a plain one."""
    shared_cluster.plan(
        [
            node("aks-gpunp-0", "gpunp"),
            node("aks-plugin-0", "plugin", "device-plugin", gpus=2),
            node("aks-system-0", "system", "none", gpus=0),
        ]
    )
    return shared_cluster


@pytest.fixture
def namespace(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own, deleted afterwards with everything in it."""
    # Numbered, because the next parameter of a test starts while this namespace is still ending.
    number = next(NUMBERS)
    name = request.node.name.split("[")[0].replace("_", "-").removeprefix("test-")[:40].strip("-") + f"-{number}"
    cluster.kubectl("create", "namespace", name)
    yield name
    # Deleted one after another their GPUs are free for the next test at once; the namespace itself takes seconds.
    cluster.kubectl("delete", "deployments,jobs,pods,resourceclaims", "--all", "-n", name, "--timeout=60s")
    cluster.kubectl("delete", "namespace", name, "--wait=false")
