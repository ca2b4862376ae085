"""Finds the rules that a person names."""

import difflib
from collections.abc import Iterable

from aksgpu.errors import AksgpuError
from aksgpu.rules.book import BOOK, rule
from aksgpu.rules.model import Rule


def find(name: str) -> Rule:
    """Return a rule by id or name; AksgpuError with the nearest name for one that isn't there."""
    found = rule(name)
    if found is None:
        raise AksgpuError(f"There is no rule '{name}'.{_near(name)} `aksgpu rules` lists them all.")
    return found


def chosen(select: Iterable[str], ignore: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules that are asked: all or those selected, without those ignored."""
    wanted = {find(name).id for name in select} or {entry.id for entry in BOOK}
    unwanted = {find(name).id for name in ignore}
    rules = tuple(entry for entry in BOOK if entry.id in wanted - unwanted)
    if not rules:
        raise AksgpuError("With these --select and --ignore no rule is left to check.")
    return rules


def _near(name: str) -> str:
    known = [text for entry in BOOK for text in (entry.name, entry.id)]
    lowered = {text.casefold(): text for text in known}
    near = difflib.get_close_matches(name.casefold(), list(lowered), n=1, cutoff=0.5)
    return f" Did you mean {lowered[near[0]]}?" if near else ""
