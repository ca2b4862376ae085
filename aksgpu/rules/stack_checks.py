"""Turns judgements of one stack of charts into checks and rules."""

from collections.abc import Callable, Iterator

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.stack import StackComponent, StackFacts
from aksgpu.facts.truth import Truth, Unknown
from aksgpu.rules.model import Check, Rule, Severity, Verdict
from aksgpu.rules.stacks import joined

Judge = Callable[[StackFacts], Iterator[Verdict]]


def of_stacks(judge: Judge) -> Check:
    """Make a check of a judgement of one stack; what may not go into one cluster is undecided."""

    def check(estate: Estate) -> Iterator[Verdict]:
        for one in joined(estate):
            for verdict in judge(one.stack):
                undecided = verdict.undecided or not one.certain
                yield Verdict(verdict.message, verdict.place, undecided=undecided)

    return check


def decided(truth: Truth, message: str, place: Place, waits_for: str) -> Iterator[Verdict]:
    """Yield the message when it is so, and what the rule waits for when that can't be told yet."""
    if truth is True:
        yield Verdict(message, place)
    elif isinstance(truth, Unknown):
        text = f"This can't be judged before {waits_for} is known; the rule decides when an update knows."
        yield Verdict(text, place, undecided=True)


def truth_of(value: object) -> Truth:
    """Return a switch as a truth; anything else is off."""
    return value if isinstance(value, bool | Unknown) else False


def variable(component: StackComponent, path: str, name: str) -> str | Unknown | None:
    """Return the value of an environment variable in a list of them."""
    entries = component.lists.get(path)
    if isinstance(entries, Unknown):
        return entries
    for entry in entries or ():
        if isinstance(entry, Unknown):
            return entry
        if isinstance(entry, dict) and entry.get("name") == name:
            value = entry.get("value")
            return value if isinstance(value, Unknown) else str(value)
    return None


def stack_rule(
    id_: str,
    name: str,
    judge: Judge,
    *,
    severity: Severity = "error",
    in_programs: bool = True,
    summary: str,
    why: str,
    fix: str,
    source: str,
) -> Rule:
    """Make a rule of a judgement of one stack; one that a program can't break speaks on files only."""
    return Rule(
        id=id_,
        name=name,
        severity=severity,
        summary=summary,
        why=why,
        fix=fix,
        source=source,
        on_unknown=(
            "Known values that rule out every coherent set decide at once; otherwise the rule says what it waits for."
        ),
        check=of_stacks(judge),
        prevents=("preview",) if in_programs else (),
        detects=("update", "files") if in_programs else ("files",),
        across=True,
    )
