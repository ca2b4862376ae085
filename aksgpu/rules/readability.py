"""AKSGPU0xx: whether things can be judged at all."""

import re
from collections.abc import Iterator

from aksgpu.facts.base import Malformed, Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.stack import StackComponent, StackFacts
from aksgpu.facts.truth import Truth, Unknown, any_of
from aksgpu.facts.workloads import Workload
from aksgpu.knowledge.stack_values import DRA_DRIVERS, OPERATORS
from aksgpu.rules.allocation_values import of_verdict
from aksgpu.rules.demand import asks_device_plugin
from aksgpu.rules.gpu_pools import has_gpus, serves_gpus
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.recipe import ALLOCATION_PATHS

_SAYS_WHETHER_GPUS = re.compile(
    r"(?:properties|agentPoolProfiles(?:\[\d+\])?)?\.?|the whole value"
    r"|.*\b(?:vm_?size|gpu_?profile\b.*|gpu_?instance_?profile)",
    re.IGNORECASE,
)
"""Paths at which it is said whether a pool has GPUs; what can't be read there always matters."""


def _check(estate: Estate) -> Iterator[Verdict]:
    for place, value, matters in _malformed(estate):
        yield from _verdict(place, value, matters)
    yield from _in_stacks(estate)
    yield from of_verdict("malformed-value")(estate)


def _malformed(estate: Estate) -> Iterator[tuple[Place, Malformed, Truth]]:
    """Yield what could not be read, and whether it matters for GPUs; clusters have a rule of their own."""
    for pool in estate.pools:
        yield from ((pool.place, value, _matters(value, has_gpus(pool))) for value in pool.malformed)
    for workload in estate.workloads:
        yield from ((workload.place, value, _asks_for_gpus(workload)) for value in workload.malformed)
    for quota in estate.quotas:
        yield from ((quota.place, value, _is_about_gpus(value)) for value in quota.malformed)
    for item in (*estate.components, *estate.claims, *estate.device_classes):
        yield from ((item.place, value, True) for value in item.malformed)


def _in_stacks(estate: Estate) -> Iterator[Verdict]:
    for stack in estate.stacks:
        for component in stack.components:
            for value in component.malformed:
                if not _said_elsewhere(stack, component, value, estate):
                    text = f"{value.path} of {component.name} is {value.given}; it has to be {value.expected}."
                    yield Verdict(text, component.at(value.path))


def _matters(value: Malformed, gpus: Truth) -> Truth:
    return True if _SAYS_WHETHER_GPUS.fullmatch(value.path) else gpus


def _is_about_gpus(value: Malformed) -> bool:
    return any(word in f"{value.path} {value.given}" for word in ("nvidia.com", "deviceclass"))


def _asks_for_gpus(workload: Workload) -> Truth:
    if isinstance(workload.claims, Unknown):
        return any_of(asks_device_plugin(workload), workload.claims)
    return any_of(asks_device_plugin(workload), bool(workload.claims))


def _verdict(place: Place, value: Malformed, matters: Truth) -> Iterator[Verdict]:
    """Speak when a value matters for GPUs; an ordinary pool or pod may be as it likes."""
    text = f"{value.path} is {value.given}; it has to be {value.expected}."
    if matters is True:
        yield Verdict(text, place.at(value.path))
    elif isinstance(matters, Unknown):
        yield Verdict(f"{text} Whether that matters for GPUs isn't known yet.", place.at(value.path), undecided=True)


def _said_elsewhere(stack: StackFacts, component: StackComponent, value: Malformed, estate: Estate) -> bool:
    if stack.complete:
        decides = any(f"{path}.".startswith(f"{value.path}.") for path in ALLOCATION_PATHS)
        return decides and component.name in (*OPERATORS, *DRA_DRIVERS)
    return any(
        f".{said.path}".endswith(f".{value.path}")
        for item in estate.components
        if item.place.object == component.place.object
        for said in item.malformed
    )


MALFORMED_VALUE = Rule(
    id="AKSGPU001",
    name="malformed-value",
    severity="error",
    summary="Every value that decides about GPUs can be read.",
    why=(
        "A value of the wrong type or an unknown word is read differently by different tools, so nothing can "
        "be promised about it."
    ),
    fix="Write the value as the message says.",
    source="The REST schema of Microsoft.ContainerService and the Kubernetes API types",
    on_unknown="A value that isn't known yet is not malformed. Whether one matters is undecided until it is known.",
    check=_check,
    pillars=("Operational Excellence",),
)


def _cluster_check(estate: Estate) -> Iterator[Verdict]:
    for cluster in estate.clusters:
        for value in cluster.malformed:
            yield from _verdict(cluster.place, value, _matters(value, serves_gpus(cluster, estate)))


MALFORMED_CLUSTER_VALUE = Rule(
    id="AKSGPU002",
    name="malformed-cluster-value",
    severity="error",
    summary="Every value of a cluster with GPUs that decides about them can be read.",
    why=(
        "The Kubernetes version and node auto-provisioning of a cluster decide what its GPU pools can do; a value "
        "of the wrong type is read differently by different tools."
    ),
    fix="Write the value as the message says.",
    source="The REST schema of Microsoft.ContainerService",
    on_unknown="Whether the cluster has GPUs is undecided until the sizes of its pools are known.",
    check=_cluster_check,
    pillars=("Operational Excellence",),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (MALFORMED_VALUE, MALFORMED_CLUSTER_VALUE)
