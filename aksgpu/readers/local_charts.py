"""Reads charts that lie in a folder: what they are called, and which charts they bring along.

A chart from a registry can't be looked into. What it brings along is then seen only by the values that it is given for
it, under the other chart's name.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from aksgpu.facts.truth import Unknown
from aksgpu.readers.chart_values import merged
from aksgpu.readers.documents import documents
from aksgpu.readers.fields import Fields
from aksgpu.readers.reading import Unreadable
from aksgpu.readers.text import read_text
from aksgpu.readers.yaml_trees import Problem


class SubChart(NamedTuple):
    """A chart that another one brings along."""

    chart: str
    key: str
    """Where its values are in those of the other."""
    values: object
    enabled: bool | Unknown
    """What its condition says; it is there unless it is switched off."""


def chart_name(chart: str) -> str:
    """Return the name that the chart in a folder has, or `chart` itself."""
    name = Fields(_load(chart, "Chart.yaml")).raw("name")
    return name if isinstance(name, str) else chart


def sub_charts(chart: str, values: object) -> list[SubChart]:
    """Return the charts that one may bring along, with the values that they get."""
    found = Fields(_load(chart, "Chart.yaml")).items("dependencies")
    if isinstance(found, list):
        effective = merged(_load(chart, "values.yaml"), values)
        return [part for entry in found if (part := _dependency(Fields(entry), effective)) is not None]
    given = values.items() if isinstance(values, Mapping) else ()
    return [
        SubChart(str(key), str(key), value, _switch(value, ["enabled"]))
        for key, value in given
        if isinstance(value, Mapping)
    ]


def _dependency(entry: Fields, values: object) -> SubChart | None:
    name, alias, condition = entry.raw("name"), entry.raw("alias"), entry.raw("condition")
    if not isinstance(name, str):
        return None
    paths = condition.split(",") if isinstance(condition, str) else []
    key = alias if isinstance(alias, str) else name
    own = Fields(values).raw(key)
    return SubChart(name, key, {} if own is None else own, _switch(values, paths))


def _switch(values: object, paths: list[str]) -> bool | Unknown:
    """Return what a condition comes to: its first path that is written decides, as in Helm."""
    written = (Fields(values).raw(path.strip()) for path in paths)
    return next((value for value in written if isinstance(value, bool | Unknown)), True)


def _load(folder: str, file: str) -> object:
    path = Path(folder) / file
    if "://" in folder or not path.is_file():
        return {}
    text = read_text(str(path))
    if isinstance(text, Unreadable):
        return {}
    found = [document.data for document in documents(text) if document.data is not None]
    return found[0] if found and not isinstance(found[0], Problem) else {}
