"""Puts together what goes into one cluster, for rules about the values of several charts."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.stack import StackComponent, StackFacts
from aksgpu.facts.truth import Unknown


@dataclass(frozen=True)
class Joined:
    """The components of one cluster as one stack."""

    stack: StackFacts
    certain: bool = True
    """Whether they surely go into one cluster."""


def joined(estate: Estate) -> Iterator[Joined]:
    """Yield a stack for each cluster.

    Each Helm release is read as a stack of its own. Releases that don't say where they go are taken to go to every
    cluster that is named, like all GPU software. A component that is there several times, with different values, makes
    several stacks: every one of them has to be right. Where the object is here that a chart makes, it counts instead of
    the chart.
    """
    made_by = {stack.part_of for stack in estate.stacks}
    groups: dict[tuple[str, ...] | None, list[StackFacts]] = {}
    for stack in estate.stacks:
        if stack.complete:
            yield Joined(stack)
        elif stack.place.object not in made_by:
            groups.setdefault(_key(stack.cluster), []).append(stack)
    anywhere = groups.pop(None, [])
    for here in groups.values() or [[]]:
        yield from _combined([*here, *anywhere])


def _key(ref: ClusterRef) -> tuple[str, ...] | None:
    """Return what tells clusters apart; None for a reference that says nothing."""
    if ref.object is not None:
        return ("object", ref.object)
    if isinstance(ref.name, Unknown):
        return ("unknown",)
    group = ref.resource_group if isinstance(ref.resource_group, str) else ""
    return None if ref.name is None else ("name", ref.name.casefold(), group.casefold())


def _combined(parts: list[StackFacts]) -> Iterator[Joined]:
    by_name: dict[str, dict[str, StackComponent]] = {}
    for part in parts:
        for component in part.components:
            values = component.model_dump_json(exclude={"place"}, fallback=repr)
            by_name.setdefault(component.name, {}).setdefault(values, component)
    if not by_name:
        return
    several = any(len(found) > 1 for found in by_name.values())
    unknown = any(isinstance(part.cluster.name, Unknown) for part in parts)
    for components in product(*(found.values() for found in by_name.values())):
        stack = StackFacts(place=parts[0].place, cluster=parts[0].cluster, components=components)
        yield Joined(stack, certain=not (several and unknown))
