"""AKSGPU0xx: whether things can be judged at all."""

from collections.abc import Iterator

from aksgpu.facts.base import Malformed
from aksgpu.facts.estate import Estate
from aksgpu.facts.stack import StackComponent, StackFacts
from aksgpu.knowledge.stack_values import DRA_DRIVERS, OPERATORS
from aksgpu.rules.allocation_values import of_verdict
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.recipe import ALLOCATION_PATHS


def _check(estate: Estate) -> Iterator[Verdict]:
    for place, value in estate.malformed():
        yield Verdict(f"{value.path} is {value.given}; it has to be {value.expected}.", place)
    for stack in estate.stacks:
        for component in stack.components:
            for value in component.malformed:
                if not _said_elsewhere(stack, component, value, estate):
                    text = f"{value.path} of {component.name} is {value.given}; it has to be {value.expected}."
                    yield Verdict(text, component.place.at(value.path))
    yield from of_verdict("malformed-value")(estate)


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
    on_unknown="A value that isn't known yet is not malformed.",
    check=_check,
    pillars=("Operational Excellence",),
)

RULES = (MALFORMED_VALUE,)
