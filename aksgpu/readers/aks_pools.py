"""Reads what one AKS node pool says of itself, under the names of the REST API, whatever form it was written in."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.nodes import Taint
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.knowledge import node_pools
from aksgpu.knowledge.kubernetes import parse_minor
from aksgpu.readers.fields import Fields

_TAINT = re.compile(r"(?P<key>[^=:\s]+)(?:=(?P<value>[^:\s]*))?:(?P<effect>\w+)")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_SCALE = "virtualMachinesProfile.scale"


def read_pool(fields: Fields, place: Place, form: PoolForm, cluster: ClusterRef, name: Maybe[str]) -> PoolFacts:
    """Return the facts of a pool from its properties."""
    sizing = _sizing(fields)
    facts = PoolFacts(
        place=place,
        form=form,
        cluster=cluster,
        name=name,
        vm_size=sizing.size,
        count=sizing.count,
        autoscaling=sizing.autoscaling,
        os_type=fields.choice("osType", node_pools.OS_TYPES),
        os_sku=fields.text("osSKU"),
        kubernetes_version=read_version(fields, "orchestratorVersion"),
        mode=fields.choice("mode", node_pools.POOL_MODES),
        scale_set_priority=fields.choice("scaleSetPriority", node_pools.PRIORITIES),
        max_surge=_amount(fields, "upgradeSettings.maxSurge"),
        max_unavailable=_amount(fields, "upgradeSettings.maxUnavailable"),
        gpu_driver=fields.choice("gpuProfile.driver", node_pools.GPU_DRIVERS),
        management_mode=_management_mode(fields),
        driver_mode=fields.choice("gpuProfile.nvidia.driverMode", node_pools.DRIVER_MODES),
        mig_strategy=fields.choice("gpuProfile.nvidia.migStrategy", node_pools.MIG_STRATEGIES),
        mig_profiles=fields.texts("gpuProfile.nvidia.migProfiles"),
        gpu_instance_profile=fields.text("gpuInstanceProfile"),
        labels=fields.mapping("nodeLabels"),
        taints=_taints(fields),
        vm_tags=fields.mapping("tags"),
    )
    return facts.model_copy(update={"malformed": fields.problems})


def _management_mode(fields: Fields) -> Maybe[str]:
    """Read who manages the GPU software; empty text is no word of Azure's, so it isn't taken for an absent one."""
    path = "gpuProfile.nvidia.managementMode"
    if fields.raw(path) == "":
        return fields.refuse(path, "", f"one of {', '.join(node_pools.MANAGEMENT_MODES)}")
    return fields.choice(path, node_pools.MANAGEMENT_MODES)


class _Sizing(NamedTuple):
    size: Maybe[str]
    count: Maybe[int]
    autoscaling: Maybe[bool]


def _sizing(fields: Fields) -> _Sizing:
    """Read sizes and numbers; a pool of type VirtualMachines has them in scale profiles."""
    size, count, scaling = fields.text("vmSize"), fields.whole("count"), fields.flag("enableAutoScaling")
    manual, auto = _profiles(fields, f"{_SCALE}.manual"), _profiles(fields, f"{_SCALE}.autoscale")
    if size is None:
        size = _one_size([*manual, *auto])
    if scaling is None and auto:
        scaling = UNKNOWN if UNKNOWN in auto else True
    if count is None and manual and not auto:
        counts = [item.get("count") if isinstance(item, Mapping) else UNKNOWN for item in manual]
        count = sum(number for number in counts if type(number) is int) if _all_whole(counts) else UNKNOWN
    return _Sizing(size, count, scaling)


def _profiles(fields: Fields, path: str) -> list[object]:
    """Return scale profiles: a list, or one alone in api-versions that allow one."""
    value = fields.raw(path)
    if isinstance(value, Mapping):
        return [value]
    found = fields.items(path)
    return [UNKNOWN] if isinstance(found, Unknown) else found or []


def _one_size(profiles: list[object]) -> Maybe[str]:
    """Return the size of all profiles; several sizes are not one that could be judged."""
    sizes = {item.get("size") if isinstance(item, Mapping) else UNKNOWN for item in profiles}
    if not sizes:
        return None
    size = sizes.pop()
    return size if isinstance(size, str) and not sizes else UNKNOWN


def _all_whole(values: list[object]) -> bool:
    return all(type(value) is int for value in values)


def read_version(fields: Fields, path: str) -> Maybe[str]:
    """Return a Kubernetes version; text that is none is malformed."""
    version = fields.text(path)
    if isinstance(version, str) and parse_minor(version) is None:
        return fields.refuse(path, version, "a Kubernetes version such as 1.35 or 1.35.4")
    return version


def _amount(fields: Fields, path: str) -> Maybe[str]:
    """Read a number or a percentage of nodes; the API has it as text, and tools take numbers too."""
    value = fields.raw(path)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else fields.text(path)


def _taints(fields: Fields) -> Maybe[tuple[Taint, ...]]:
    texts = fields.texts("nodeTaints")
    if texts is None or isinstance(texts, Unknown):
        return texts
    taints = []
    for text in texts:
        match = _TAINT.fullmatch(text)
        effect = next((word for word in _EFFECTS if match and word.casefold() == match["effect"].casefold()), None)
        if match is None or effect is None:
            return fields.refuse("nodeTaints", text, "key=value:NoSchedule, or with NoExecute or PreferNoSchedule")
        taints.append(Taint.model_validate({"key": match["key"], "value": match["value"] or "", "effect": effect}))
    return tuple(taints)
