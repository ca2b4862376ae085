"""What a rule is, and what it finds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate

Severity = Literal["error", "warning", "info"]
Where = Literal["component", "preview", "update", "admission", "files"]
"""Where a rule can speak: when a component is built, in a preview, while an update runs, when the API server is asked
to store an object, on files."""
Pillar = Literal["Cost Optimization", "Operational Excellence", "Performance Efficiency", "Reliability", "Security"]
"""A pillar of the Azure Well-Architected Framework."""


@dataclass(frozen=True)
class Verdict:
    """What a check says about one thing: it fails, or it can't be decided before more is known."""

    message: str
    """One or two sentences that name the thing and the values."""
    place: Place
    undecided: bool = False


Check = Callable[[Estate], Iterable[Verdict]]
"""A pure function; it may see a single resource or everything at once."""


@dataclass(frozen=True)
class Rule:
    """A rule is data and a pure function. Its examples are in `examples/<name>.yaml`."""

    id: str
    """`AKSGPU` and three digits; the first is the family."""
    name: str
    """Kebab-case; rules are addressed by id or by name."""
    severity: Severity
    summary: str
    """One line: what must hold."""
    why: str
    fix: str
    source: str
    """The document or code that says so."""
    on_unknown: str
    """What the rule does about values that are not known yet."""
    check: Check
    pillars: tuple[Pillar, ...] = ("Reliability",)
    prevents: tuple[Where, ...] = ("component", "preview", "update")
    """Where it speaks before anything is created."""
    detects: tuple[Where, ...] = ("files",)
    """Where it can only tell afterwards."""
    across: bool = False
    """Needs to see several resources together."""

    @property
    def in_packs(self) -> bool:
        """Tell whether a policy pack can judge it: the engine shows a pack what is asked for, not what was before."""
        return bool({"preview", "update"} & {*self.prevents, *self.detects})


@dataclass(frozen=True)
class Finding:
    """A rule that something breaks, or may break once more is known."""

    rule: Rule
    verdict: Verdict

    @property
    def severity(self) -> Severity:
        """The rule's own, except that what isn't decided yet is for information."""
        return "info" if self.verdict.undecided else self.rule.severity

    def as_json(self) -> dict[str, Any]:
        """Return the shape that `aksgpu check --format json` prints."""
        place = self.verdict.place
        return {
            "rule": self.rule.id,
            "name": self.rule.name,
            "severity": self.severity,
            "message": self.verdict.message,
            "why": self.rule.why,
            "fix": self.rule.fix,
            "source": self.rule.source,
            "object": place.object,
            "file": place.file,
            "line": place.line,
        }

    def paragraph(self) -> str:
        """Return everything a person needs, as one paragraph."""
        text = f"{self.rule.id} {self.rule.name}: {self.verdict.message}"
        if self.verdict.undecided:
            return text
        return f"{text} Why: {self.rule.why} Fix: {self.rule.fix}"
