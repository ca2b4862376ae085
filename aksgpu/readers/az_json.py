"""Reads what `az aks show`, `az aks list`, `az aks nodepool show` and `az aks nodepool list` print, and ARM's answers.

The keys are those of the REST API; `az` writes them beside `name` and `id`, ARM below `properties`.
"""

from collections.abc import Mapping

from aksgpu.facts.base import Place, shown
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolForm
from aksgpu.readers.aks import address_of, first_known, read_cluster
from aksgpu.readers.aks_pools import read_pool
from aksgpu.readers.fields import Fields
from aksgpu.readers.reading import Reading, Unreadable

_CLUSTERS = "microsoft.containerservice/managedclusters"
_POOLS = f"{_CLUSTERS}/agentpools"
_POOL_KEYS = frozenset(
    {"enableautoscaling", "nodeimageversion", "ossku", "ostype", "orchestratorversion", "gpuprofile"}
)
"""With `vmSize`, one of these makes a pool of an answer that `az --query` has cut down."""
_CURRENT = {"orchestratorVersion": "currentOrchestratorVersion", "kubernetesVersion": "currentKubernetesVersion"}
"""Wanted versions, and what runs while an upgrade is under way."""


def recognises(data: object) -> bool:
    """Tell whether a document is an answer about clusters or node pools."""
    items = _items(data)
    return items == [] if _is_page(data) and not items else any(_kind(item) for item in items)


def read(data: object, file: str) -> Reading:
    """Return the facts in an answer."""
    items = _items(data)
    if not items:
        message = "Azure's answer holds no cluster and no node pool: ask for the right cluster and resource group."
        return Reading(unreadable=(Unreadable(file, None, message),))
    estates, unreadable = [], []
    for index, item in enumerate(items):
        kind = _kind(item)
        if kind is None:
            message = f"Element {index} is neither a cluster nor a node pool: {shown(item)}. Save az's answer anew."
            unreadable.append(Unreadable(file, None, message))
        else:
            estates.append(_read(kind, item, file, _path(data, index)))
    return Reading(Estate.merge(estates), tuple(unreadable))


def _is_page(data: object) -> bool:
    return isinstance(data, Mapping) and isinstance(data.get("value"), list) and set(data) <= {"value", "nextLink"}


def _items(data: object) -> list[object]:
    if isinstance(data, Mapping):
        value = data.get("value")
        return list(value) if _is_page(data) and isinstance(value, list) else [data]
    return list(data) if isinstance(data, list) else []


def _path(data: object, index: int) -> str | None:
    if _is_page(data):
        return f"value[{index}]"
    return f"[{index}]" if isinstance(data, list) else None


def _kind(item: object) -> str | None:
    """Return the resource type, in lower case."""
    if not isinstance(item, Mapping):
        return None
    named = item.get("type")
    if isinstance(named, str) and named.casefold() in (_CLUSTERS, _POOLS):
        return named.casefold()
    keys = {str(key).casefold() for key in item}
    if "agentpoolprofiles" in keys and not keys & {"apiversion", "$schema"}:
        return _CLUSTERS
    return _POOLS if "vmsize" in keys and keys & _POOL_KEYS else None


def _read(kind: str, item: object, file: str, path: str | None) -> Estate:
    outer = Fields(item, fold_case=True)
    found = address_of(outer)
    group = first_known(found.resource_group, outer.text("resourceGroup"))
    inner = outer.raw("properties")
    fields = Fields(_running(inner if isinstance(inner, Mapping) else item), fold_case=True)
    name = outer.text("name")
    resource_id = outer.raw("id")
    title = resource_id if isinstance(resource_id, str) else f"{kind.rsplit('/', 1)[-1]} {name or ''}".rstrip()
    place, form = Place(object=title, file=file, path=path), PoolForm(kind="live")
    if kind == _CLUSTERS:
        return read_cluster(fields, place, form, first_known(found.cluster, name), group)
    ref = ClusterRef(name=found.cluster, resource_group=group)
    return Estate(pools=(read_pool(fields, place, form, ref, first_known(found.pool, name)),))


def _running(properties: object) -> object:
    """Put the versions that run in the place of those that are wanted, in pools inside a cluster too."""
    if not isinstance(properties, Mapping):
        return properties
    running = dict(properties)
    for wanted, current in _CURRENT.items():
        if running.get(current):
            running[wanted] = running[current]
    profiles = running.get("agentPoolProfiles")
    if isinstance(profiles, list):
        running["agentPoolProfiles"] = [_running(profile) for profile in profiles]
    return running
