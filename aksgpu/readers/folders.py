"""Finds the files that are meant by paths."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from aksgpu.readers.reading import Unreadable
from aksgpu.readers.text import STANDARD_INPUT

_EXTENSIONS = (".yaml", ".yml", ".json")
_NOT_OURS = {"node_modules", "__pycache__"}
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"


class Source(NamedTuple):
    """A file to be read."""

    file: str
    """As it is shown: below the path that was given."""
    named: bool
    """Whether it was given by name, and not found in a folder."""


def sources(paths: Sequence[str]) -> tuple[list[Source], list[Unreadable]]:
    """Return the files that paths mean, each once, and what isn't there."""
    seen: set[str] = set()
    found: list[Source] = []
    missing: list[Unreadable] = []
    for item in (item for path in paths for item in _of(path)):
        if isinstance(item, Unreadable):
            missing.append(item)
        elif (real := item.file if item.file == STANDARD_INPUT else os.path.realpath(item.file)) not in seen:
            seen.add(real)
            found.append(item)
    return found, missing


def _of(path: str) -> Iterator[Source | Unreadable]:
    if path != STANDARD_INPUT and Path(path).is_dir():
        yield from _walk(path, set())
    elif path == STANDARD_INPUT or Path(path).exists():
        yield Source(path, named=True)
    else:
        yield Unreadable(path, None, "There is no such file or folder.")


def _walk(folder: str, on_the_way: set[str]) -> Iterator[Source | Unreadable]:
    """Yield the files of a folder; links are followed, but never back to a folder on the way."""
    real = os.path.realpath(folder)
    if real in on_the_way:
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Unreadable(folder, None, f"This folder can't be read: {error.strerror or error}.")
        return
    if any(entry.name == _VIRTUAL_ENVIRONMENT for entry in entries):
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name in _NOT_OURS:
            continue
        if entry.is_dir():
            yield from _walk(entry.path, on_the_way | {real})
        elif entry.name.lower().endswith(_EXTENSIONS):
            yield Source(entry.path, named=False)
