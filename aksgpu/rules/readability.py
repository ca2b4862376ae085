"""AKSGPU0xx: whether things can be judged at all."""

from collections.abc import Iterator

from aksgpu.facts.estate import Estate
from aksgpu.rules.model import Rule, Verdict


def _check(estate: Estate) -> Iterator[Verdict]:
    for place, value in estate.malformed():
        yield Verdict(f"{value.path} is {value.given}; it has to be {value.expected}.", place)


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
