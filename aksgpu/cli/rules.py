"""`aksgpu rules`: the rule book, and one rule explained."""

import sys

from rich.console import Console
from rich.table import Table

from aksgpu.cli.rule_names import find
from aksgpu.errors import AksgpuError
from aksgpu.rules.book import BOOK
from aksgpu.rules.model import Rule


def rules(name: str | None = None, /, *, admission: bool = False) -> None:
    """List the rules, or explain one.

    Examples: aksgpu rules dual-advertisement, aksgpu rules --admission

    Parameters
    ----------
    name
        Name or id of a rule, for example dual-advertisement or AKSGPU301.
    admission
        Print the rules (or one) as ValidatingAdmissionPolicies, in YAML for `kubectl apply -f -`.
    """
    if admission:
        _admission(BOOK if name is None else (find(name),))
    elif name is None:
        _list()
    else:
        _explain(find(name))


def _admission(asked: tuple[Rule, ...]) -> None:
    from aksgpu.reporters.admission import text

    able = [entry for entry in asked if "admission" in entry.prevents]
    if not able:
        raise AksgpuError(
            f"The rule {asked[0].name} can't be decided from one Kubernetes object, so it has no admission policy. "
            "`aksgpu rules --admission` prints those of all rules that can."
        )
    sys.stdout.write(text(able))


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
