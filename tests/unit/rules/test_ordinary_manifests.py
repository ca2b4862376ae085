"""Ordinary manifests without GPUs: nothing is found in them, alone or beside GPU node pools of every sort."""

from collections import Counter

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Taint
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.readers.files import read
from aksgpu.readers.reading import Reading
from aksgpu.rules.book import judge
from tests.fixtures import ordinary

COUNT = 450


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    folder = tmp_path_factory.mktemp("ordinary")
    for name, text in ordinary.manifests(COUNT):
        (folder / name).write_text(text)
    return read([str(folder)])


def test_all_of_them_are_read(reading: Reading):
    assert (reading.files, reading.passed_over, reading.unreadable) == (COUNT, 0, ())
    assert COUNT >= 10 * ordinary.kinds() >= 400


def test_nothing_is_found_in_them(reading: Reading):
    assert [finding.paragraph() for finding in judge(reading.estate)] == []


def pool(name: str, mode: str | None) -> PoolFacts:
    return PoolFacts(
        place=Place(object=name),
        form=PoolForm(kind="live"),
        name=name,
        vm_size="Standard_NC24ads_A100_v4",
        management_mode="Managed" if mode else None,
        driver_mode=mode,
        taints=(Taint(key="sku", value="gpu", effect="NoSchedule"),),
    )


@pytest.mark.parametrize("mode", ["DRA", "DevicePlugin"])
def test_nothing_is_found_in_them_beside_gpu_pools(reading: Reading, mode: str):
    cluster = ClusterFacts(place=Place(object="aks"), kubernetes_version="1.35")
    pools = Estate(clusters=(cluster,), pools=(pool("gpunp", mode),))
    before = Counter(finding.rule.name for finding in judge(pools))
    after = Counter(finding.rule.name for finding in judge(Estate.merge([pools, reading.estate])))
    assert after == before
