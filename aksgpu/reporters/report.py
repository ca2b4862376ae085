"""What a report is made of. It knows findings and rules as plain data, so that no reporter depends on the rule book."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Result:
    """A finding, in the shape and order of the JSON report."""

    rule: str
    name: str
    severity: Severity
    message: str
    why: str
    fix: str
    source: str
    object: str
    file: str | None
    line: int | None


@dataclass(frozen=True)
class Failure:
    """An input that could not be read."""

    file: str
    line: int | None
    message: str


@dataclass(frozen=True)
class Allocation:
    """The whole-GPU allocation policy that the values of a GPU stack come to."""

    policy: str | None
    verdict: str
    message: str


@dataclass(frozen=True)
class RuleText:
    """A rule that was asked, for reports that explain rules by themselves."""

    id: str
    name: str
    severity: Severity
    summary: str
    why: str
    fix: str
    source: str


@dataclass(frozen=True)
class Report:
    """Everything that one check found."""

    results: Sequence[Result] = ()
    """In the order of file, line, rule."""
    allocation: Allocation | None = None
    unreadable: Sequence[Failure] = ()
    rules: Sequence[RuleText] = field(default=())
    """All rules that were asked, whether they found something or not."""
    files: int = 0
    passed_over: int = 0
    """Files in folders that are none of those that can be checked."""

    def count(self, severity: Severity) -> int:
        """Return how many findings are of a severity."""
        return sum(result.severity == severity for result in self.results)


def where(item: Result | Failure) -> str:
    """Return file and line, as far as they are known; a finding without a file is at its object."""
    if item.file is None:
        return item.object
    return item.file if item.line is None else f"{item.file}:{item.line}"


def one_line(text: str) -> str:
    """Write a text on one line, printable."""
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """Write what a terminal or an XML parser would stumble over as escapes: control characters, lone surrogates."""
    return "".join(
        char if char.isprintable() or char in "\n " else char.encode("unicode_escape").decode("ascii") for char in text
    )
