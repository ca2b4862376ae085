"""Reads NVIDIA's charts and the GPU Operator's ClusterPolicy: what their values switch on, and where it would run.

Besides the software that runs on nodes, which rules about single nodes ask for, the values of NVIDIA's charts are kept
as the facts of a stack. Defaults are those of the charts: gpu-operator v25 and v26, dra-driver-nvidia-gpu 0.4 (before:
nvidia-dra-driver-gpu), nvidia-device-plugin 0.17.
"""

import re
from typing import TypeVar

from aksgpu.facts.base import Malformed, Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.components import GpuComponent, Product
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Requirement, Selection, Toleration
from aksgpu.facts.stack import ComponentName, StackComponent, StackFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown, known
from aksgpu.knowledge.stack_values import CHARTS
from aksgpu.readers.chart_values import effective_values
from aksgpu.readers.fields import Fields
from aksgpu.readers.local_charts import chart_name, sub_charts
from aksgpu.readers.placement import read_selection, read_tolerations
from aksgpu.readers.stack_components import read_component

Holder = TypeVar("Holder", GpuComponent, StackComponent)

_PRODUCTS: dict[str, Product] = {
    "gpu-operator": "gpu-operator",
    "gpu-operator-ocp": "gpu-operator",
    "nvidia-dra-driver-gpu": "dra-driver",
    "nvidia-dra-driver-gpu-ocp": "dra-driver",
    "nvidia-device-plugin": "device-plugin",
    "k8s-device-plugin": "device-plugin",
}
"""The product in a component of the stack, or in a chart that is none."""

_ARCHIVE = re.compile(r"(?:-v?\d[\w.+-]*)?(?:\.tgz|\.tar\.gz)$")
_GPU_TOLERATION = (Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule"),)
_OPERANDS_ALLOWED = (Requirement(key="nvidia.com/gpu.deploy.operands", operator="NotIn", values=("false",)),)
"""The label with which a node refuses everything that the GPU Operator deploys."""


def product_of(chart: str) -> Product | None:
    """Return the product of a chart given by name, repository/name, OCI reference, URL, archive or folder."""
    name = _bare(chart)
    return _PRODUCTS.get(CHARTS.get(name, name))


def read_release(kind: str, urn: str, props: object, cluster: ClusterRef, part_of: str | None = None) -> Estate:
    """Return what a Helm release or chart of a Pulumi program deploys."""
    fields = Fields(props)
    effective = effective_values(fields)
    name = fields.raw("name")
    title = f"Helm {kind.lower()} {name if isinstance(name, str) and name else urn.rsplit('::', 1)[-1]}"
    estate = read_chart(fields.text("chart"), Place(object=urn), title, effective.values, cluster, part_of)
    if not fields.problems:
        return estate
    stacks = (stack.each(lambda item: _adding(item, fields.problems)) for stack in estate.stacks)
    software = tuple(_adding(item, fields.problems) for item in estate.components)
    return estate.model_copy(update={"components": software, "stacks": tuple(stacks)})


def read_chart(
    chart: Maybe[str], place: Place, title: str, values: object, cluster: ClusterRef, part_of: str | None = None
) -> Estate:
    """Return what a chart with these values deploys; an empty estate for a chart that has nothing to do with GPUs."""
    if isinstance(chart, Unknown):
        return Estate(components=(_unknown_chart(place, title, cluster),))
    if not chart:
        return Estate()
    name = _bare(chart_name(chart))
    if name in CHARTS or name in _PRODUCTS:
        return _known_chart(name, place, f"{title} (chart {chart})", values, cluster, part_of)
    brought = []
    for part in sub_charts(chart, values):
        name = _bare(part.chart)
        if part.enabled is not False and (name in CHARTS or name in _PRODUCTS):
            described = f"{title} (chart {name}, which {chart} brings along)"
            estate = _known_chart(name, place, described, part.values, cluster, part_of, part.key)
            brought.append(_switched(estate, part.enabled))
    return Estate.merge(brought)


def _known_chart(
    name: str,
    place: Place,
    described: str,
    values: object,
    cluster: ClusterRef,
    part_of: str | None,
    key: str = "",
) -> Estate:
    """Return what one of the charts deploys; `key` is where its values are in those of the chart that brings it."""
    # A place inside an object is that of the values; a whole resource of a program has them in `values`.
    where = place if place.path else place.at("values")
    component = CHARTS.get(name)
    product = _PRODUCTS.get(component or name)
    software = Estate()
    if product is not None:
        fields = Fields(values, prefix=f"values.{key}." if key else "values.")
        software = _component(product, place, described, fields, cluster, part_of)
    if component is None:
        return software
    return software.model_copy(
        update={"stacks": (_stack(component, where.at(key) if key else where, values, cluster, part_of),)}
    )


def _bare(chart: str) -> str:
    """Return the name of a chart without repository, version and file ending."""
    name = re.split("[@?]", chart, maxsplit=1)[0].rstrip("/").rsplit("/", 1)[-1]
    if not name.casefold().startswith("v") and ":" in name:
        name = name.split(":", 1)[0]
    return _ARCHIVE.sub("", name).casefold()


def read_cluster_policy(place: Place, title: str, spec: object, cluster: ClusterRef, part_of: str | None) -> Estate:
    """Return what a ClusterPolicy of the GPU Operator deploys; its spec has the keys of the chart's values."""
    software = _component("gpu-operator", place, title, Fields(spec, prefix="spec."), cluster, part_of)
    return software.model_copy(update={"stacks": (_stack("gpu-operator", place.at("spec"), spec, cluster, part_of),)})


def _stack(name: ComponentName, place: Place, values: object, cluster: ClusterRef, part_of: str | None) -> StackFacts:
    component = read_component(name, values, place)
    return StackFacts(place=place, cluster=cluster, part_of=part_of, components=(component,))


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


def _switched(estate: Estate, enabled: Maybe[bool]) -> Estate:
    """Return what a chart deploys with the switch that the chart around it has for it."""
    stacks = (stack.each(lambda item: item.model_copy(update={"enabled": enabled})) for stack in estate.stacks)
    software = tuple(item.model_copy(update={"enabled": enabled}) for item in estate.components)
    return Estate(components=software, stacks=tuple(stacks))


def _adding(item: Holder, problems: tuple[Malformed, ...]) -> Holder:
    return item.model_copy(update={"malformed": (*item.malformed, *problems)})
