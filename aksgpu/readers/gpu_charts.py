"""Reads NVIDIA's charts and the GPU Operator's ClusterPolicy: what their values switch on, and where it would run.

Defaults are those of the charts: gpu-operator v25 and v26, dra-driver-nvidia-gpu 0.4 (before: nvidia-dra-driver-gpu),
nvidia-device-plugin 0.17.
"""

import re

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.components import GpuComponent, Product
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Requirement, Selection, Toleration
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown, known
from aksgpu.readers.fields import Fields
from aksgpu.readers.placement import read_selection, read_tolerations

CHARTS: dict[str, Product] = {
    "gpu-operator": "gpu-operator",
    "gpu-operator-certified": "gpu-operator",
    "nvidia-dra-driver-gpu": "dra-driver",
    "dra-driver-nvidia-gpu": "dra-driver",
    "nvidia-device-plugin": "device-plugin",
    "k8s-device-plugin": "device-plugin",
}
"""Chart names, old and new, and the product in each."""

_ARCHIVE = re.compile(r"(?:-v?\d[\w.+-]*)?(?:\.tgz|\.tar\.gz)$")
_GPU_TOLERATION = (Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule"),)
_OPERANDS_ALLOWED = (Requirement(key="nvidia.com/gpu.deploy.operands", operator="NotIn", values=("false",)),)
"""The label with which a node refuses everything that the GPU Operator deploys."""


def product_of(chart: str) -> Product | None:
    """Return the product of a chart given by name, repository/name, OCI reference, URL, archive or folder."""
    name = re.split("[@?]", chart, maxsplit=1)[0].rstrip("/").rsplit("/", 1)[-1]
    if not name.casefold().startswith("v") and ":" in name:
        name = name.split(":", 1)[0]
    return CHARTS.get(_ARCHIVE.sub("", name).casefold())


def read_chart(
    chart: Maybe[str], place: Place, title: str, values: object, cluster: ClusterRef, part_of: str | None = None
) -> Estate:
    """Return what a chart with these values deploys; an empty estate for a chart that has nothing to do with GPUs."""
    if isinstance(chart, Unknown):
        return Estate(components=(_unknown_chart(place, title, cluster),))
    product = product_of(chart) if chart else None
    if product is None:
        return Estate()
    fields = Fields(values, prefix="values.")
    described = f"{title} (chart {chart})"
    return _component(product, place, described, fields, cluster, part_of)


def read_cluster_policy(place: Place, title: str, spec: object, cluster: ClusterRef, part_of: str | None) -> Estate:
    """Return what a ClusterPolicy of the GPU Operator deploys; its spec has the keys of the chart's values."""
    return _component("gpu-operator", place, title, Fields(spec, prefix="spec."), cluster, part_of)


def _component(
    product: Product, place: Place, described: str, fields: Fields, cluster: ClusterRef, part_of: str | None
) -> Estate:
    switches: dict[str, Maybe[bool]] = {}
    match product:
        case "gpu-operator":
            selection, tolerations = _operator_placement(fields)
            switches["device_plugin"] = _on(fields, "devicePlugin.enabled")
            switches["driver"] = _on(fields, "driver.enabled")
            switches["toolkit"] = _on(fields, "toolkit.enabled")
        case "dra-driver":
            selection, tolerations = _placement(fields, "kubeletPlugin.")
            switches["dra"] = _on(fields, "resources.gpus.enabled")
        case "device-plugin":
            selection, tolerations = _placement(fields, "")
            switches["device_plugin"] = _on(fields, "devicePlugin.enabled")
    component = GpuComponent(
        place=place,
        product=product,
        description=described,
        cluster=cluster,
        part_of=part_of,
        selection=selection,
        tolerations=tolerations,
        malformed=fields.problems,
        **switches,
    )
    return Estate(components=(component,))


def _on(fields: Fields, path: str) -> Maybe[bool]:
    """Return a switch whose default is on."""
    value = fields.flag(path)
    return True if value is None else value


def _placement(fields: Fields, prefix: str) -> tuple[Maybe[Selection], Maybe[tuple[Toleration, ...]]]:
    # The charts' own affinity asks for labels of node feature discovery, which every GPU node may have.
    selection = read_selection(fields, f"{prefix}nodeSelector", f"{prefix}affinity")
    tolerations = read_tolerations(fields, f"{prefix}tolerations")
    return selection, _GPU_TOLERATION if tolerations is None else tolerations


def _operator_placement(fields: Fields) -> tuple[Maybe[Selection], Maybe[tuple[Toleration, ...]]]:
    labels = fields.mapping("daemonsets.nodeSelector")
    selection: Maybe[Selection] = UNKNOWN
    if not isinstance(labels, Unknown):
        selection = Selection(labels=labels or {}, terms=(_OPERANDS_ALLOWED,))
    tolerations = read_tolerations(fields, "daemonsets.tolerations")
    return selection, tolerations if known(tolerations) or isinstance(tolerations, Unknown) else _GPU_TOLERATION


def _unknown_chart(place: Place, title: str, cluster: ClusterRef) -> GpuComponent:
    return GpuComponent(
        place=place,
        product="gpu-operator",
        description=f"{title} (a chart whose name isn't known yet)",
        cluster=cluster,
        enabled=UNKNOWN,
        device_plugin=UNKNOWN,
        driver=UNKNOWN,
        toolkit=UNKNOWN,
    )
