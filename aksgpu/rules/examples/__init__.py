"""The examples of the rules: for each rule a file `<name>.yaml` with resources as a Pulumi YAML program has them.

They are the rules' tests and stand in their pages. `<unknown>` is a value that a preview doesn't know yet;
`before` is what was there when the example is about a change.
"""

from pathlib import Path
from typing import Any, Literal, NamedTuple

from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.model import Rule

_UNKNOWN = "<unknown>"


class Resource(NamedTuple):
    """One resource of an example."""

    name: str
    type: str
    properties: dict[str, Any]


class Example(NamedTuple):
    """One example of a rule."""

    title: str
    verdict: Literal["pass", "fail", "undecided"]
    resources: tuple[Resource, ...]
    before: tuple[Resource, ...]


def path_of(rule: Rule) -> Path:
    """Return the file with a rule's examples."""
    return Path(__file__).with_name(f"{rule.name}.yaml")


def load(rule: Rule) -> tuple[Example, ...]:
    """Return a rule's examples."""
    from ruamel.yaml import YAML

    entries = YAML(typ="safe", pure=True).load(path_of(rule))
    return tuple(
        Example(
            entry["title"],
            entry["verdict"],
            _resources(entry["resources"]),
            _resources(entry.get("before", {})),
        )
        for entry in entries
    )


def _resources(entries: dict[str, dict[str, Any]]) -> tuple[Resource, ...]:
    return tuple(
        Resource(name, entry["type"], {key: _value(value) for key, value in entry["properties"].items()})
        for name, entry in entries.items()
    )


def _value(value: object) -> object:
    match value:
        case dict():
            return {key: _value(item) for key, item in value.items()}
        case list():
            return [_value(item) for item in value]
    return UNKNOWN if value == _UNKNOWN else value
