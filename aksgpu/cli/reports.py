"""Makes the report of a check, and writes it."""

import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from aksgpu.facts.estate import Estate
from aksgpu.readers.lines import Lines
from aksgpu.readers.reading import Reading
from aksgpu.reporters.report import Allocation, Failure, Report, Result, RuleText
from aksgpu.rules.book import in_order
from aksgpu.rules.model import Finding, Rule


def made(reading: Reading, findings: Iterable[Finding], rules: Sequence[Rule]) -> Report:
    """Return the report: findings with their lines in order, what could not be read, and the allocation."""
    lines = Lines(reading.texts)
    located = sorted((_located(finding, lines) for finding in findings), key=in_order)
    return Report(
        results=[Result(**finding.as_json()) for finding in located],
        allocation=_allocation(reading.estate),
        unreadable=[Failure(item.file, item.line, item.message) for item in reading.unreadable],
        rules=[_text(rule) for rule in rules],
        files=reading.files,
        passed_over=reading.passed_over,
    )


def write(report: Report, form: str) -> None:
    """Print a report as text, json, sarif or junit."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name may be no text, a terminal may be ASCII only
    if form == "text" and sys.stdout.isatty():
        from rich.console import Console

        from aksgpu.reporters import text

        text.show(report, Console(highlight=False, markup=False, emoji=False))
        return
    sys.stdout.write(_rendered(report, form) + "\n")


def _rendered(report: Report, form: str) -> str:
    match form:
        case "json":
            from aksgpu.reporters import json

            return json.render(report)
        case "sarif":
            from importlib.metadata import version

            from aksgpu.reporters import sarif

            return sarif.render(report, version("aksgpu"), Path.cwd())
        case "junit":
            from aksgpu.reporters import junit

            return junit.render(report)
    from aksgpu.reporters import text

    return text.render(report)


def _located(finding: Finding, lines: Lines) -> Finding:
    return replace(finding, verdict=replace(finding.verdict, place=lines.locate(finding.verdict.place)))


def _text(rule: Rule) -> RuleText:
    return RuleText(rule.id, rule.name, rule.severity, rule.summary, rule.why, rule.fix, rule.source)


def _allocation(estate: Estate) -> Allocation | None:
    """Return what the values of a GPU stack come to; None when none were given."""
    from aksgpu.rules.allocation_values import allocation_of

    found = allocation_of(estate)
    return Allocation(found.policy, found.verdict, found.message) if found is not None else None
