"""Takes files apart into documents: YAML, several to a file, and JSON, one value after the other."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from aksgpu.readers.yaml_data import data_of
from aksgpu.readers.yaml_trees import Problem, compose

_WHITE = re.compile(r"\s*")
_BIGGEST_YAML = 50_000_000
"""Characters; a tree of YAML takes a hundred times as much memory."""


@dataclass(frozen=True)
class Document:
    """A document of a file."""

    index: int
    """Its number in the file, from 0; documents that can't be read count too."""
    line: int
    """Its first line, 1-based."""
    data: object
    """Plain data, or the `Problem` with it."""


def documents(text: str) -> Iterator[Document]:
    """Yield the documents of a file; a bad one doesn't hide the others."""
    found = _json_documents(text) if text.lstrip()[:1] in ("{", "[") else None
    if found is not None:
        yield from found
        return
    if len(text) > _BIGGEST_YAML:
        yield Document(0, 1, Problem(1, "This is too much YAML for one file; give the parts that matter, or JSON."))
        return
    for tree in compose(text):
        line = tree.before + (tree.root.start_mark.line if tree.root else 0) + 1
        yield Document(tree.index, line, data_of(tree))


def only(text: str) -> Document | None:
    """Return the one document of a text that may have only one, as the values of a chart; None for an empty text.

    A second document makes it a `Problem`.
    """
    found = [document for document in documents(text) if document.data is not None]
    if not found:
        return None
    if len(found) > 1 and not isinstance(found[0].data, Problem):
        second = found[1]
        problem = Problem(second.line, "The values of a chart are one document; Helm reads no second one.")
        return Document(second.index, second.line, problem)
    return found[0]


class _TwiceError(ValueError):
    """A key of a JSON object is written twice."""


def _json_documents(text: str) -> list[Document] | None:
    """Return the JSON values of a file, one after the other; None when it is something else, perhaps YAML."""
    decoder = json.JSONDecoder(object_pairs_hook=_pairs)
    found: list[Document] = []
    position, line = 0, 1
    while position < len(text):
        rest = _WHITE.match(text, position)
        start = rest.end() if rest else position
        line += text.count("\n", position, start)
        if start == len(text):
            break
        try:
            data, position = decoder.raw_decode(text, start)
        except _TwiceError as error:
            return [*found, Document(len(found), line, Problem(line, str(error)))]
        except RecursionError:
            return [*found, Document(len(found), line, Problem(line, "This is nested too deep."))]
        except ValueError:
            return None
        found.append(Document(len(found), line, data))
        line += text.count("\n", start, position)
    return found


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    group = dict(pairs)
    if len(group) < len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise _TwiceError(f"The key '{twice}' is written twice in one object; tools differ about which one counts.")
    return group
