"""Shapes of manifests that people have: every finding is pinned with its line and reason, and there is no other.

The files in `tests/fixtures/manifests` are checked alone, beside a cluster whose GPU pool hands GPUs out by DRA, and
beside one whose GPU pool has a device plugin. Both pools have the taint sku=gpu.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from aksgpu.readers.files import read
from aksgpu.readers.lines import Lines
from aksgpu.rules.book import judge
from tests.fixtures.clusters import cluster

FOLDER = Path(__file__).parents[2] / "fixtures" / "manifests"
Found = set[tuple[str, int | None]]
"""Names of rules and lines."""


class Shape(NamedTuple):
    """What is found in a file."""

    reason: str
    alone: Found = set()
    dra: Found = set()
    plugin: Found = set()
    unreadable: int | bool | None = False
    """The line of what can't be read, None for the whole file; False when everything can."""


def blocked(*lines: int) -> Found:
    return {("gpu-pool-unreachable", line) for line in lines}


def mismatched(*lines: int) -> Found:
    return {("allocation-mismatch", line) for line in lines}


_TAINT = "It asks for nvidia.com/gpu and tolerates no taint"
SHAPES = {
    "01-deployment-quoted-and-service": Shape("Its node selector is another cloud's", plugin=blocked(11)),
    "03-statefulset-headless": Shape("It asks for nvidia.com/gpu and tolerates the taint", dra=mismatched(15)),
    "04-job-kueue": Shape(_TAINT, plugin=blocked(10)),
    "06-strategic-merge-patch": Shape(f"{_TAINT}; a patch has no image", plugin=blocked(8)),
    "07-indented-separator": Shape("An indented --- ends no document", unreadable=8),
    "08-chart-values": Shape("Values of a chart have no kind", unreadable=None),
    "10-leader-worker-set": Shape(f"{_TAINT}, in both templates", plugin=blocked(9, 15)),
    "12-ray-service": Shape(f"{_TAINT}, in the workers only; the text of serveConfigV2 is text", plugin=blocked(20)),
    "13-ray-job-head": Shape(f"{_TAINT}, in the head", plugin=blocked(10)),
    "15-mpi-job": Shape(f"{_TAINT}, in the workers only", plugin=blocked(12)),
    "16-pytorch-job": Shape(f"{_TAINT}; etcd beside it asks for nothing", plugin=blocked(9)),
    "19-ray-cluster-placeholder": Shape(f"{_TAINT}; the count is a placeholder", plugin=blocked(9)),
    "20-pod": Shape(_TAINT, plugin=blocked(4)),
    "23-kserve": Shape("The model of a predictor is no pod spec, so nothing is known of its pods"),
    "24-kserve-prefill": Shape(f"{_TAINT}, in both templates", plugin=blocked(5, 8)),
    "27-volcano": Shape(f"{_TAINT}, in the workers only; the last document is empty", plugin=blocked(12)),
    "29-ray-job-variables": Shape(f"{_TAINT}; the variables are not about GPUs", plugin=blocked(12)),
    "31-tolerating-job": Shape("It asks for nvidia.com/gpu and tolerates the taint", dra=mismatched(6)),
    "32-device-plugin": Shape(
        "A device plugin that lands on every node, beside the one or the driver that AKS runs",
        dra={("dual-advertisement", 1)},
        plugin={("dual-advertisement", 1)},
    ),
    "35-shared-gpu-memory": Shape(f"{_TAINT}; a queue is no pod", plugin=blocked(4)),
    "38-nim-service": Shape("The operator makes its pods, so nothing is known of them"),
    "40-go-template": Shape("A template is no YAML before it is rendered", unreadable=1),
    "44-spark-pod-template": Shape("It asks for no GPU"),
    "46-elastic-quota": Shape("A quota of another group runs nothing"),
    "47-autoscaled-deployment": Shape(f"{_TAINT}; a metric about GPUs asks for none", plugin=blocked(8)),
    "49-workflow": Shape("A workflow of a build server; a manifest inside its script is text", unreadable=None),
    "51-admin-access": Shape("A DaemonSet that watches all GPUs by a claim", plugin=mismatched(18)),
    "53-two-pods-one-claim": Shape(
        "Two pods share the devices of one claim; and claims need a DRA pool",
        alone={("shared-claim-by-replicas", 23)},
        plugin=mismatched(13, 21),
    ),
    "54-claim-template-job": Shape("Claims need a DRA pool", plugin=mismatched(16)),
    "55-extended-resource-class": Shape(
        "Kubernetes 1.35 drops extendedResourceName",
        dra={("dra-field-dropped", 5)},
        plugin={("dra-field-dropped", 5)},
    ),
    "60-keda": Shape(f"{_TAINT}, in the job that is scaled", plugin=blocked(7)),
    "61-list": Shape(f"{_TAINT}, in the second element of a List", plugin=blocked(10)),
    "62-job-set": Shape(f"{_TAINT}, in the jobs of a set", plugin=blocked(11)),
    "63-limit-range": Shape("A limit runs nothing"),
    "64-time-sliced": Shape(f"{_TAINT}; a share of a GPU is an extended resource too", plugin=blocked(4)),
}


def test_every_file_has_its_findings_here():
    assert {path.stem for path in FOLDER.iterdir()} == set(SHAPES)
    assert sum(len(shape.dra) + len(shape.plugin) for shape in SHAPES.values()) >= 25


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_else_is_found_in_a_shape(name: str, tmp_path: Path):
    shape = SHAPES[name]
    (file,) = FOLDER.glob(f"{name}.*")
    assert found(file) == shape.alone
    for mode, expected in (("DRA", shape.dra), ("DevicePlugin", shape.plugin)):
        aks = tmp_path / f"{mode}.json"
        aks.write_text(cluster(mode))
        assert found(file, aks) == expected | shape.alone, mode


@pytest.mark.parametrize("name", SHAPES)
def test_what_cannot_be_read_of_a_shape_is_said(name: str):
    (file,) = FOLDER.glob(f"{name}.*")
    lines = [item.line for item in read([str(file)]).unreadable]
    assert lines == ([] if SHAPES[name].unreadable is False else [SHAPES[name].unreadable])


@pytest.mark.parametrize("mode", ["DRA", "DevicePlugin"])
def test_the_clusters_alone_are_fine(mode: str, tmp_path: Path):
    (tmp_path / "aks.json").write_text(cluster(mode))
    assert judge(read([str(tmp_path)]).estate) == []


def found(*files: Path) -> Found:
    reading = read([str(file) for file in files])
    lines = Lines(reading.texts)
    return {(finding.rule.name, lines.locate(finding.verdict.place).line) for finding in judge(reading.estate)}
