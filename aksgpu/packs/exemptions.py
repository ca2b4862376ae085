"""Exemptions: findings that somebody decided to live with, for a reason and for a time.

They are part of each policy's configuration. An exemption that is not written right never holds, and says so.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from aksgpu.facts.base import shown

SCHEMA: dict[str, dict[str, Any]] = {
    "exemptions": {
        "type": "array",
        "description": "Findings of this policy to live with for a while; they are reported as advisories instead.",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["urn", "reason", "expires"],
            "properties": {
                "urn": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Pattern for URNs with *, ? and [...]; it has to name resources.",
                },
                "reason": {"type": "string", "minLength": 1, "description": "Why the finding is accepted."},
                "expires": {
                    "type": "string",
                    "pattern": r"^\d{4}-\d{2}-\d{2}$",
                    "description": "The last day on which the exemption holds, YYYY-MM-DD.",
                },
            },
        },
    }
}
"""The configuration of a policy besides its enforcement level, which the engine adds; the engine checks it first."""

_KEYS = ("urn", "reason", "expires")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BRACKETS = re.compile(r"\[!?\]?[^\]]*\]")


@dataclass(frozen=True)
class Exemption:
    """One accepted deviation from a rule."""

    urn: str
    """A pattern in the manner of file names, with regard to case."""
    reason: str
    expires: date
    """The last day on which it holds."""

    def covers(self, urn: str) -> bool:
        """Tell whether a resource is meant, expired or not."""
        return fnmatchcase(urn, self.urn)

    def holds(self, today: date) -> bool:
        """Tell whether it has not expired."""
        return today <= self.expires


@dataclass(frozen=True)
class Exemptions:
    """The exemptions of one policy that are written right, and what is wrong with the others."""

    entries: tuple[Exemption, ...] = ()
    problems: tuple[str, ...] = ()

    def of(self, urn: str, today: date) -> Exemption | None:
        """Return the exemption of a resource that holds longest; it may have expired."""
        found = [entry for entry in self.entries if entry.covers(urn)]
        return max(found, key=lambda entry: (entry.holds(today), entry.expires), default=None)


def read_exemptions(policy: str, config: Mapping[str, Any]) -> Exemptions:
    """Return the exemptions in a policy's configuration; nothing that is written wrong is among them."""
    entries: list[Exemption] = []
    problems = [
        f"The configuration of policy {policy} has an unknown key {shown(key)}; it can have enforcementLevel and "
        "exemptions."
        for key in config
        if key not in ("exemptions", "enforcementLevel")
    ]
    given = config.get("exemptions", [])
    if not isinstance(given, Sequence) or isinstance(given, str):
        problems.append(f"exemptions of policy {policy} is {shown(given)}; it has to be a list.")
        given = []
    for index, item in enumerate(given):
        wrong = list(_problems(item))
        where = f"exemptions[{index}] of policy {policy}"
        problems += [f"{where} does not hold: {problem}" for problem in wrong]
        if not wrong:
            entries.append(Exemption(item["urn"], item["reason"].strip(), date.fromisoformat(item["expires"])))
    return Exemptions(tuple(entries), tuple(problems))


def _problems(item: object) -> list[str]:
    if not isinstance(item, Mapping):
        return [f"{shown(item)} has to be a mapping with urn, reason and expires."]
    problems = [f"it has an unknown key {shown(key)}." for key in item if key not in _KEYS]
    problems += [
        f"its {key} is missing; give it as text."
        for key in _KEYS
        if not isinstance(item.get(key), str) or not item[key].strip()
    ]
    return problems or [problem for problem in (_urn_problem(item["urn"]), _day_problem(item["expires"])) if problem]


def _urn_problem(pattern: str) -> str | None:
    if not pattern.startswith("urn:pulumi:"):
        return f"its urn {shown(pattern)} has to start with urn:pulumi:, as every URN does."
    # A pattern for everything is a rule switched off without saying so; that is what enforcementLevel is for.
    _, last, name = pattern.rpartition("::")
    if not last or not re.search(r"\w", _BRACKETS.sub("", name)):
        return f"its urn {shown(pattern)} names nothing after a last ::; to switch the rule off, set enforcementLevel."
    if "[" in _BRACKETS.sub("", pattern):
        return f"its urn {shown(pattern)} has a [ without a ]; write [[] for the character itself."
    return None


def _day_problem(text: str) -> str | None:
    try:
        if _DAY.fullmatch(text):
            date.fromisoformat(text)
            return None
    except ValueError:
        pass
    return f"its expires {shown(text)} is not a day; write YYYY-MM-DD."
