"""Reads facts out of Kubernetes manifests: single objects and lists of them."""

from collections.abc import Mapping

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.readers import kube_objects
from aksgpu.readers.object_lists import Listed, expanded


def recognises(data: object) -> bool:
    """Tell whether a document is a Kubernetes object."""
    return isinstance(data, Mapping) and all(isinstance(data.get(key), str) for key in ("apiVersion", "kind"))


def read(data: object, file: str, document: int) -> Estate:
    """Return the facts in one document."""
    return Estate.merge(
        kube_objects.read_object(item.api_version, item.kind, item.data, _place(item, file, document))
        for item in expanded(data)
        if kube_objects.reads(item.api_version, item.kind)
    )


def _place(item: Listed, file: str, document: int) -> Place:
    return Place(object=_title(item), file=file, document=document, path=item.path or None)


def _title(item: Listed) -> str:
    """Return `Kind namespace/name`."""
    metadata = item.data.get("metadata")
    fields = metadata if isinstance(metadata, Mapping) else {}
    name = fields.get("name") or fields.get("generateName")
    namespace = fields.get("namespace")
    parts = [part for part in (namespace, name) if isinstance(part, str) and part]
    return f"{item.kind} {'/'.join(parts)}".rstrip()
