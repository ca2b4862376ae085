"""The report as text: in colour and grouped by file on a terminal, one line a finding elsewhere."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from aksgpu.reporters.report import Report, one_line, printable, where

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def render(report: Report) -> str:
    """Return the report as plain lines: `FILE:LINE: SEVERITY RULE NAME: MESSAGE`, the fix in the line after it."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    for result in report.results:
        yield f"{one_line(where(result))}: {result.severity} {result.rule} {result.name}: {one_line(result.message)}"
        yield f"    Fix: {one_line(result.fix)}"
    for failure in report.unreadable:
        yield f"{one_line(where(failure))}: unreadable: {one_line(failure.message)}"
    if report.allocation is not None:
        yield _allocation(report)
    yield summary(report)


def show(report: Report, console: "Console") -> None:
    """Print the report on a terminal."""
    from rich.padding import Padding
    from rich.text import Text

    for title, results in groupby(report.results, key=lambda result: result.file or "Values and options"):
        console.print(Text(printable(title), style="bold underline"))
        for result in results:
            line = "" if result.line is None else f"line {result.line}: "
            head = Text.assemble(
                line, (result.severity, _STYLES[result.severity]), f" {result.rule} ", (result.name, "bold"),
                (f"  {one_line(result.object)}", "dim"),
            )  # fmt: skip
            console.print(Padding(head, (0, 0, 0, 2)))
            console.print(Padding(Text(printable(result.message)), (0, 0, 0, 6)))
            console.print(Padding(Text.assemble(("Fix: ", "green"), printable(result.fix)), (0, 0, 1, 6)))
    for failure in report.unreadable:
        console.print(Text(one_line(where(failure)), style="bold underline"))
        body = Text.assemble(("can't be read ", "bold red"), printable(failure.message))
        console.print(Padding(body, (0, 0, 1, 2)))
    if report.allocation is not None:
        console.print(Text(_allocation(report)))
    console.print(Text(summary(report), style="bold"))


def summary(report: Report) -> str:
    """Return the last line: what was checked and what came of it."""
    counts = [
        _many(report.count("error"), "error"),
        _many(report.count("warning"), "warning"),
        *([f"{report.count('info')} for information"] if report.count("info") else []),
        *([f"{len(report.unreadable)} unreadable"] if report.unreadable else []),
    ]
    nothing = "No file checked" if report.unreadable else "Values checked"
    checked = f"{_many(report.files, 'file')} checked" if report.files else nothing
    strange = ""
    if report.passed_over == 1:
        strange = " 1 file is no Kubernetes manifest and was passed over."
    elif report.passed_over:
        strange = f" {report.passed_over} files are no Kubernetes manifests and were passed over."
    return f"{checked}: {', '.join(counts)}.{strange}"


def _allocation(report: Report) -> str:
    found = report.allocation
    if found is None:
        return ""
    return f"Allocation: {found.policy or 'none'} ({found.verdict}). {one_line(found.message)}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
