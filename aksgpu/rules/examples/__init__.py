"""The examples of the rules, in a file `<name>.yaml` for each rule. They are the rules' tests and stand in their pages.

An example has one or several of: `resources`, as a Pulumi YAML program has them; `manifests`, a list of Kubernetes
objects; `values`, the values of charts by component, as `aksgpu check --values` takes them, with `advertiser`.
`clusterVersion` and `today` say what the command line says with options of these names; `before` holds the resources
that were there when the example is about a change. `<unknown>` is a value that a preview doesn't know yet.
"""

from datetime import date
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
    resources: tuple[Resource, ...] = ()
    before: tuple[Resource, ...] = ()
    manifests: tuple[dict[str, Any], ...] = ()
    values: dict[str, dict[str, Any] | None] | None = None
    """None when the example says nothing about charts."""
    advertiser: str = ""
    cluster_version: str | None = None
    today: date | None = None


def path_of(rule: Rule) -> Path:
    """Return the file with a rule's examples."""
    return Path(__file__).with_name(f"{rule.name}.yaml")


def load(rule: Rule) -> tuple[Example, ...]:
    """Return a rule's examples."""
    from ruamel.yaml import YAML

    entries = YAML(typ="safe", pure=True).load(path_of(rule))
    return tuple(
        Example(
            title=entry["title"],
            verdict=entry["verdict"],
            resources=_resources(entry.get("resources", {})),
            before=_resources(entry.get("before", {})),
            manifests=tuple(_value(item) for item in entry.get("manifests", ())),
            values=_value(entry["values"]) if "values" in entry else None,
            advertiser=entry.get("advertiser", ""),
            cluster_version=entry.get("clusterVersion"),
            today=entry.get("today"),
        )
        for entry in entries
    )


def _resources(entries: dict[str, dict[str, Any]]) -> tuple[Resource, ...]:
    return tuple(
        Resource(name, entry["type"], {key: _value(value) for key, value in entry["properties"].items()})
        for name, entry in entries.items()
    )


def _value(value: Any) -> Any:  # noqa: ANN401 - YAML
    match value:
        case dict():
            return {key: _value(item) for key, item in value.items()}
        case list():
            return [_value(item) for item in value]
    return UNKNOWN if value == _UNKNOWN else value
