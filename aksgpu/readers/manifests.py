"""Reads facts out of Kubernetes manifests: single objects and lists of them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.readers import kube_objects

_DEEPEST_LIST = 5
"""Lists inside lists; nobody writes more than two."""


class _Object(NamedTuple):
    api_version: str
    kind: str
    data: Mapping[str, object]
    path: str
    """Where it is in its document; empty for the document itself."""


def recognises(data: object) -> bool:
    """Tell whether a document is a Kubernetes object."""
    return isinstance(data, Mapping) and all(isinstance(data.get(key), str) for key in ("apiVersion", "kind"))


def read(data: object, file: str, document: int) -> Estate:
    """Return the facts in one document."""
    return Estate.merge(
        kube_objects.read_object(item.api_version, item.kind, item.data, _place(item, file, document))
        for item in _objects(data)
        if kube_objects.reads(item.api_version, item.kind)
    )


def _objects(data: object, path: str = "", depth: int = 0) -> Iterator[_Object]:
    """Yield an object, or those in a list; the elements of a DeploymentList need not say that they are Deployments."""
    if not isinstance(data, Mapping):
        return
    api_version, kind, items = data.get("apiVersion"), data.get("kind"), data.get("items")
    if not (isinstance(api_version, str) and isinstance(kind, str)):
        return
    if not (kind.endswith("List") and isinstance(items, list)) or depth == _DEEPEST_LIST:
        yield _Object(api_version, kind, {str(key): value for key, value in data.items()}, path)
        return
    of = kind.removesuffix("List")
    implied = {"apiVersion": api_version, "kind": of} if of else {}
    for index, item in enumerate(items):
        inside = f"{path}.items[{index}]" if path else f"items[{index}]"
        yield from _objects({**implied, **item} if isinstance(item, Mapping) else item, inside, depth + 1)


def _place(item: _Object, file: str, document: int) -> Place:
    return Place(object=_title(item), file=file, document=document, path=item.path or None)


def _title(item: _Object) -> str:
    """Return `Kind namespace/name`."""
    metadata = item.data.get("metadata")
    fields = metadata if isinstance(metadata, Mapping) else {}
    name = fields.get("name") or fields.get("generateName")
    namespace = fields.get("namespace")
    parts = [part for part in (namespace, name) if isinstance(part, str) and part]
    return f"{item.kind} {'/'.join(parts)}".rstrip()
