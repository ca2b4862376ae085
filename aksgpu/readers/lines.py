"""Finds the line of a file that a fact was read from. Only findings need one, so it is looked up when there is one."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from aksgpu.facts.base import Place
from aksgpu.readers.text import decoded
from aksgpu.readers.yaml_trees import compose

_BIGGEST = 8_000_000
"""Characters; a state bigger than this is for machines, and finding lines would take longer than everything else."""


class Lines:
    """Looks lines up; takes every file apart once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """`texts` are the files that were read; any other is read when it is needed."""
        self._texts = texts
        self._trees: dict[str, dict[int, tuple[int, yaml.Node]]] = {}

    def locate(self, place: Place) -> Place:
        """Return a place with its line, as near as it can be found."""
        if place.file is None or place.line is not None:
            return place
        found = self._file(place.file).get(place.document or 0)
        if found is None:
            return place
        before, root = found
        return place.model_copy(update={"line": before + _nearest(root, place.path or "").start_mark.line + 1})

    def _file(self, file: str) -> dict[int, tuple[int, yaml.Node]]:
        if file not in self._trees:
            text = self._text(file)
            trees = compose(text) if len(text) <= _BIGGEST else ()
            self._trees[file] = {tree.index: (tree.before, tree.root) for tree in trees if tree.root is not None}
        return self._trees[file]

    def _text(self, file: str) -> str:
        if file in self._texts:
            return self._texts[file]
        try:
            return decoded(Path(file).read_bytes())
        except (OSError, ValueError):
            return ""


def _nearest(node: yaml.Node, path: str) -> yaml.Node:
    """Return the key or element that a path leads to, or the last one on the way that is there."""
    return max(_walks(node, path, 0), key=lambda walk: walk[0])[1]


def _walks(node: yaml.Node, path: str, done: int) -> Iterator[tuple[int, yaml.Node]]:
    """Yield every way that a path can be walked: how much of it, and the node that it ends at.

    Keys may hold dots, brackets and slashes as the path itself does (`limits.nvidia.com/gpu`), so the keys that are
    there decide where one ends.
    """
    yield done, node
    rest = path[done:].removeprefix(".")
    start = len(path) - len(rest)
    if not rest:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = key.value
            if isinstance(name, str) and rest.startswith(name) and rest[len(name) : len(name) + 1] in ("", ".", "["):
                yield from _inside(key, value, path, start + len(name))
    elif isinstance(node, yaml.SequenceNode) and rest.startswith("["):
        number = rest[1:].partition("]")[0]
        if number.isdecimal() and int(number) < len(node.value):
            item = node.value[int(number)]
            yield from _inside(item, item, path, start + len(number) + 2)


def _inside(shown: yaml.Node, node: yaml.Node, path: str, done: int) -> Iterator[tuple[int, yaml.Node]]:
    """Yield the walks into a node; the line of a value is that of its key."""
    for walked, end in _walks(node, path, done):
        yield walked, shown if end is node else end
