"""Takes lists of Kubernetes objects apart, wherever they are written."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

_DEEPEST_LIST = 5
"""Lists inside lists; nobody writes more than two."""


class Listed(NamedTuple):
    """An object, by itself or out of a list."""

    api_version: str
    kind: str
    data: Mapping[str, object]
    path: str
    """Where it is in what it was read from; empty for the whole."""


def expanded(data: object, path: str = "", depth: int = 0) -> Iterator[Listed]:
    """Yield an object, or those in a list; the elements of a DeploymentList need not say that they are Deployments."""
    if not isinstance(data, Mapping):
        return
    api_version, kind, items = data.get("apiVersion"), data.get("kind"), data.get("items")
    if not (isinstance(api_version, str) and isinstance(kind, str)):
        return
    if not (kind.endswith("List") and isinstance(items, list)) or depth == _DEEPEST_LIST:
        yield Listed(api_version, kind, {str(key): value for key, value in data.items()}, path)
        return
    of = kind.removesuffix("List")
    implied = {"apiVersion": api_version, "kind": of} if of else {}
    for index, item in enumerate(items):
        inside = f"{path}.items[{index}]" if path else f"items[{index}]"
        yield from expanded({**implied, **item} if isinstance(item, Mapping) else item, inside, depth + 1)
