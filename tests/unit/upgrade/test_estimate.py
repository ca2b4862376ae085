"""How long, and how many nodes more."""

import pytest

from aksgpu.upgrade import estimate
from aksgpu.upgrade.model import Duration
from tests.unit.upgrade.clusters import pool

A100 = "Standard_NC24ads_A100_v4"


@pytest.mark.parametrize(
    ("count", "settings", "low", "high"),
    [
        (1, {}, 4 + 5, 12 + 42),  # the surge node, then one round
        (10, {}, 4 + 10 * 5, 12 + 10 * 42),  # 10% of 10 is one at a time
        (10, {"max_surge": "33%"}, 4 + 3 * 5, 12 + 3 * 42),  # 4 at a time: rounded up
        (10, {"max_surge": "5", "drain_timeout": 10}, 4 + 2 * 5, 12 + 2 * 22),
        (4, {"max_surge": "0", "max_unavailable": "2"}, 2 * 5, 2 * 42),  # no surge node to wait for
        (4, {"max_surge": "0", "max_unavailable": "50%", "soak": 5}, 2 * 10, 2 * 47),
        (0, {}, 0, 0),
    ],
)
def test_a_pool_takes_its_rounds(count: int, settings: dict[str, str | int], low: int, high: int):
    assert estimate.of_pool(pool("p", "1.35.4", count, settings=settings)) == Duration(low=low, high=high)


def test_a_gpu_node_takes_longer():
    assert estimate.of_pool(pool("p", "1.35.4", 1, vm_size=A100)) == Duration(low=6 + 7, high=20 + 50)


def test_surge_nodes_take_cores_of_a_quota():
    needed = estimate.surge(pool("gpu", "1.35.4", 20, vm_size=A100))
    assert needed is not None
    assert (needed.nodes, needed.cores, needed.family) == (2, 48, "StandardNCADSA100v4Family")


@pytest.mark.parametrize(
    ("size", "cores"),
    [("Standard_D8s_v5", 8), ("Standard_E64-16s_v3", 64), ("standard_d4ads_v5", 4), ("something", None), ("", None)],
)
def test_cores_of_other_sizes_come_from_the_name(size: str, cores: int | None):
    needed = estimate.surge(pool("p", "1.35.4", 3, vm_size=size))
    assert needed is not None
    assert (needed.nodes, needed.cores, needed.family) == (1, cores, None)


def test_without_surge_nothing_is_added():
    assert estimate.surge(pool("p", "1.35.4", 3, settings={"max_surge": "0", "max_unavailable": "1"})) is None
    assert estimate.surge(pool("p", "1.35.4", 0)) is None
