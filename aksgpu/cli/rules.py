"""`aksgpu rules`: the rule book, and one rule explained."""

import difflib
import sys

from rich.console import Console
from rich.table import Table

from aksgpu.errors import AksgpuError
from aksgpu.rules.book import BOOK, rule
from aksgpu.rules.model import Rule


def rules(name: str | None = None, /) -> None:
    """List the rules, or explain one.

    Example: aksgpu rules dual-advertisement

    Parameters
    ----------
    name
        Name or id of a rule, for example dual-advertisement or AKSGPU301.
    """
    if name is None:
        _list()
        return
    found = rule(name)
    if found is None:
        raise AksgpuError(f"There is no rule '{name}'.{_near(name)} `aksgpu rules` lists them all.")
    _explain(found)


def _list() -> None:
    if not sys.stdout.isatty():
        for entry in BOOK:
            sys.stdout.write(f"{entry.id}\t{entry.name}\t{entry.severity}\t{entry.summary}\n")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("Rule", "Name", "Severity", "What must hold"):
        table.add_column(column, no_wrap=column != "What must hold", overflow="fold")
    for entry in BOOK:
        table.add_row(entry.id, entry.name, entry.severity, entry.summary)
    Console().print(table)


def _explain(entry: Rule) -> None:
    parts = (
        ("What", entry.summary),
        ("Why", entry.why),
        ("Fix", entry.fix),
        ("Not known yet", entry.on_unknown),
        ("Source", entry.source),
    )
    console = Console(soft_wrap=not sys.stdout.isatty(), highlight=False, markup=False)
    console.print(f"{entry.id} {entry.name} ({entry.severity})")
    for title, text in parts:
        console.print(f"\n{title}: {text}")


def _near(name: str) -> str:
    known = [text for entry in BOOK for text in (entry.name, entry.id)]
    lowered = {text.casefold(): text for text in known}
    near = difflib.get_close_matches(name.casefold(), list(lowered), n=1, cutoff=0.5)
    return f" Did you mean {lowered[near[0]]}?" if near else ""
