"""Puts the values of a Helm release together as Helm does: files in order, then the values of the program."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from aksgpu.facts.base import Malformed
from aksgpu.facts.truth import UNKNOWN, Unknown
from aksgpu.readers.documents import only
from aksgpu.readers.fields import Fields
from aksgpu.readers.yaml_trees import Problem


class ChartValues(NamedTuple):
    """The values, and what could not be read of them."""

    values: object
    problems: tuple[Malformed, ...]


def effective_values(fields: Fields) -> ChartValues:
    """Return the effective values of a Pulumi Release or Chart; `UNKNOWN` as a whole when a file isn't known yet."""
    values: object = {}
    files = fields.items("valueYamlFiles")
    if isinstance(files, Unknown):
        values = UNKNOWN
    for index, asset in enumerate(files if isinstance(files, list) else []):
        values = merged(values, _load(fields, asset, f"valueYamlFiles[{index}]"))
    own = fields.raw("values")
    return ChartValues(merged(values, {} if own is None else own), fields.problems)


def merged(base: object, over: object) -> object:
    """Lay `over` on `base`: groups of keys are merged, everything else is replaced."""
    if isinstance(base, Unknown) and isinstance(over, Mapping):
        return _Lookup(over)
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    laid = {**base, **{key: merged(base[key], value) if key in base else value for key, value in over.items()}}
    return _Lookup(laid) if isinstance(base, _Lookup) else laid


class _Lookup(dict[object, object]):
    """Values over a base that isn't known: what they don't say is unknown, not absent."""

    def get(self, key: object, default: object = None) -> object:
        """Return a value, a group that is again over the unknown, or `UNKNOWN`."""
        del default
        value = super().get(key, UNKNOWN)
        return _Lookup(value) if isinstance(value, Mapping) else value


def _load(fields: Fields, asset: object, path: str) -> object:
    """Read one values file; text and local files can be read, a file at an address can't."""
    if isinstance(asset, Unknown):
        return UNKNOWN
    text = _text(asset)
    if text is None:
        return fields.refuse(
            path, asset, "a YAML file that can be read here; put what decides about GPUs into `values`"
        )
    document = only(text)
    if document is None:
        return {}
    return fields.refuse(path, asset, "one document of YAML") if isinstance(document.data, Problem) else document.data


def _text(asset: object) -> str | None:
    part = asset if isinstance(asset, Mapping) else {}
    if isinstance(part.get("text"), str):
        return str(part["text"])
    path = asset if isinstance(asset, str) else part.get("path")
    if not isinstance(path, str):
        return None
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
