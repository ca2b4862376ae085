"""Takes YAML files apart into trees that know the lines of their parts.

YAML is read as Kubernetes reads it: version 1.1, but a date, `12:30` and `=` are text, and a tag that nobody knows says
nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import yaml
from yaml.cyaml import CSafeLoader

_SEPARATOR = re.compile(r"^---(?=\s|$)", re.MULTILINE)
"""At the start of a line it always ends a document, even inside quotes."""
_NO_CONTENT = re.compile(r"(?:[ \t]*(?:#.*)?\r?\n|%.*\n)*")


@dataclass(frozen=True)
class Problem:
    """A document that can't be read."""

    line: int | None
    """1-based, in the file."""
    message: str


@dataclass(frozen=True)
class Composed:
    """A YAML document as a tree that knows the lines of its parts."""

    index: int
    before: int
    """Lines of the file before the text whose lines the tree counts."""
    root: yaml.Node | None
    """None for a document that can't be read, or an empty one."""
    problem: Problem | None = None
    size: int = 0
    """Characters of the text."""


def compose(text: str) -> Iterator[Composed]:
    """Yield the documents of a YAML file as trees."""
    index = 0
    for before, piece in _pieces(text):
        loader = _Loader(piece)
        try:
            while loader.check_node():
                yield Composed(index, before, loader.get_node(), size=len(piece))
                index += 1
        except yaml.YAMLError as error:
            yield Composed(index, before, None, _problem(error, piece, before))
            index += 1
        finally:
            loader.dispose()


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Cut a file before each `---`, so that an error ends with its document; yields lines before it and the text."""
    starts = [match.start() for match in _SEPARATOR.finditer(text)]
    if not starts or not _is_empty(text[: starts[0]]):
        starts.insert(0, 0)
    else:
        starts[0] = 0  # comments and directives belong to the document that follows
    line = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield line, text[start:end]
        line += text.count("\n", start, end)


def _is_empty(text: str) -> bool:
    match = _NO_CONTENT.match(text)
    return match is not None and match.end() == len(text)


class _Loader(CSafeLoader):
    """libyaml's parser, with the implicit types that Kubernetes tools have."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool]) -> str:
        """Return the tag of a node that has none of its own."""
        if kind is yaml.ScalarNode:
            return _tag(value or "") if implicit[0] else "tag:yaml.org,2002:str"
        return "tag:yaml.org,2002:seq" if kind is yaml.SequenceNode else "tag:yaml.org,2002:map"


_NUMBERS = (
    ("int", re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)")),
    ("float", re.compile(r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?")),
)
_WORDS = {
    **{
        word: "bool"
        for name in ("yes", "no", "true", "false", "on", "off")
        for word in (name, name.title(), name.upper())
    },
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), "null"),
    **{f"{sign}.{word}": "float" for sign in ("", "-", "+") for word in ("inf", "Inf", "INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), "float"),
    "<<": "merge",
}


@lru_cache(maxsize=1 << 16)
def _tag(text: str) -> str:
    """Return the tag of text without quotes; manifests repeat themselves, so most answers are there already."""
    kind = _WORDS.get(text, "str")
    if text[:1] in tuple("-+.0123456789"):
        kind = next((name for name, pattern in _NUMBERS if pattern.fullmatch(text)), kind)
    return f"tag:yaml.org,2002:{kind}"


def _problem(error: yaml.YAMLError, piece: str, before: int) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "this can't be read"
    context = getattr(error, "context", None)
    line = mark.line if mark is not None else piece.count("\n", 0, getattr(error, "position", 0) or 0)
    message = f"This is not valid YAML: {problem}{f' ({context})' if context else ''}."
    return Problem(before + min(line, piece.count("\n")) + 1, message)
