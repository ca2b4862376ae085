"""Reads the objects in Pulumi's groups of YAML, for previews in which the group doesn't show them one by one."""

from collections.abc import Callable, Iterator
from pathlib import Path

from aksgpu.facts.estate import Estate
from aksgpu.readers.documents import documents
from aksgpu.readers.fields import Fields
from aksgpu.readers.object_lists import expanded

KINDS = ("ConfigGroup", "ConfigFile")
OnObject = Callable[[str, str, object], Estate]
"""Takes apiVersion, kind and an object."""


def read_group(props: object, on_object: OnObject) -> Estate:
    """Return the facts in the objects, texts and local files of a group."""
    return Estate.merge(
        on_object(item.api_version, item.kind, item.data) for data in _data(Fields(props)) for item in expanded(data)
    )


def _data(fields: Fields) -> Iterator[object]:
    yield from _several(fields.raw("objs"))
    for text in _several(fields.raw("yaml")):
        yield from _documents(text)
    for name in (*_several(fields.raw("files")), fields.raw("file")):
        for path in _paths(name):
            yield from _documents(_text(path))


def _several(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return list(value)
    return [] if value is None else [value]


def _documents(text: object) -> Iterator[object]:
    if isinstance(text, str):
        yield from (document.data for document in documents(text))


def _paths(name: object) -> list[Path]:
    """Return local files; an address can't be read here, and its objects are seen when they are registered."""
    if not isinstance(name, str) or "://" in name or not name:
        return []
    try:
        path = Path(name)
        return sorted(path.parent.glob(path.name)) if "*" in path.name else [path]
    except (OSError, ValueError):
        return []


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
