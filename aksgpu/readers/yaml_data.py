"""Makes plain data of YAML trees, and refuses what can make a reader of YAML suffer: references that blow up, nesting
without end, keys that are written twice."""

import json
from typing import Any

import yaml
from yaml.cyaml import CSafeLoader

from aksgpu.readers.yaml_trees import Composed, Problem

DEEPEST = 200
_ALIASED_NODES = 100_000
"""How many more values a document may have than characters; only references can make more."""


def data_of(tree: Composed) -> object:
    """Return the data of a document, or the problem with it."""
    if tree.root is None:
        return tree.problem
    try:
        return _Builder(tree.size).build(tree.root, 0)
    except _UnusableError as error:
        return Problem(tree.before + error.node.start_mark.line + 1, str(error))


class _UnusableError(Exception):
    """A document is well-formed YAML and can't be used."""

    def __init__(self, node: yaml.Node, message: str) -> None:
        super().__init__(message)
        self.node = node


class _Builder:
    """Makes plain data of one tree. References are copied, so that what is counted is what readers meet."""

    def __init__(self, size: int) -> None:
        self._left = size + _ALIASED_NODES

    def build(self, node: yaml.Node, depth: int) -> object:
        """Return the data of a node."""
        self._left -= 1
        if self._left < 0:
            raise _UnusableError(node, "References (*name) make this document far bigger than it is written.")
        if depth > DEEPEST:
            raise _UnusableError(node, f"This is nested more than {DEEPEST} levels deep, or refers to itself.")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        return [self.build(item, depth + 1) for item in node.value]

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, object]:
        merged: dict[str, object] = {}
        own: dict[str, object] = {}
        for key_node, value_node in node.value:
            value = self.build(value_node, depth + 1)
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged = _merge(key_node, value) | merged
                continue
            key = _key(key_node)
            if key in own:
                raise _UnusableError(
                    key_node, f"The key '{key}' is written twice; tools differ about which one counts."
                )
            own[key] = value
        return merged | own if merged else own


def _merge(node: yaml.Node, value: object) -> dict[str, object]:
    parts = value if isinstance(value, list) else [value]
    merged: dict[str, object] = {}
    for part in reversed(parts):
        if not isinstance(part, dict):
            raise _UnusableError(node, "The key '<<' merges mappings; this is none.")
        merged |= part
    return merged


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise _UnusableError(node, "A mapping or list can't be a key.")
    if node.tag == "tag:yaml.org,2002:str":
        return node.value
    value = _scalar(node)
    return value if isinstance(value, str) else json.dumps(value)


def _scalar(node: yaml.ScalarNode) -> object:
    read = _SCALARS.get(node.tag)
    if read is None:
        return node.value
    try:
        return read(node.value)
    except (ValueError, KeyError) as error:
        kind = node.tag.rpartition(":")[2]
        raise _UnusableError(node, f"'{node.value[:40]}' is no {kind} that can be read.") from error


def _integer(text: str) -> int:
    bare = text.replace("_", "").lower()
    digits = bare.lstrip("+-")
    if digits.startswith("0") and digits.isdigit():
        return int(bare, 8)
    return int(bare, 0)


def _float(text: str) -> float:
    bare = text.replace("_", "").lower()
    return float(bare.replace(".inf", "inf").replace(".nan", "nan"))


_SCALARS: dict[str, Any] = {
    "tag:yaml.org,2002:null": lambda _: None,
    "tag:yaml.org,2002:bool": lambda text: CSafeLoader.bool_values[text.lower()],
    "tag:yaml.org,2002:int": _integer,
    "tag:yaml.org,2002:float": _float,
}
"""How the scalars are read that aren't text."""
