"""Finds the pod specs in Kubernetes objects and tells quickly which of them touch GPUs at all.

Most pods don't, and a cluster or a state has tens of thousands of them: so nothing is built for a pod before a glance
at its plain data says that it may matter.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from aksgpu.facts.truth import Unknown
from aksgpu.knowledge.paths import normal

POD_SPECS = {
    "Pod": "spec",
    "PodTemplate": "template.spec",
    "DaemonSet": "spec.template.spec",
    "Deployment": "spec.template.spec",
    "ReplicaSet": "spec.template.spec",
    "ReplicationController": "spec.template.spec",
    "StatefulSet": "spec.template.spec",
    "Job": "spec.template.spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
"""Where each built-in kind keeps its pod spec."""

CONTAINER_GROUPS = ("containers", "initContainers", "ephemeralContainers")
VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES"
_DEPTH = 12
"""How deep a custom resource is searched; operators nest templates in groups of groups."""


class PodSpec(NamedTuple):
    """A pod spec and where it is."""

    path: str
    spec: Mapping[str, object]
    owner: Mapping[str, object]
    """What holds the template, with the number of replicas; empty for a bare pod."""


def find(kind: str, built_in: bool, data: object) -> Iterator[PodSpec]:
    """Yield the pod specs of an object: the one of a built-in kind, or all that a custom resource holds."""
    if not isinstance(data, Mapping):
        return
    if not built_in:
        yield from _search(data, "", ({}, {}), _DEPTH)
        return
    levels: list[object] = [data]
    for key in POD_SPECS[kind].split("."):
        above = levels[-1]
        levels.append(above.get(key) if isinstance(above, Mapping) else None)
    spec, owner = levels[-1], levels[-3] if len(levels) > 2 else None
    if isinstance(spec, Mapping):
        yield PodSpec(POD_SPECS[kind], spec, owner if isinstance(owner, Mapping) else {})


def _search(
    value: object, path: str, above: tuple[Mapping[str, object], Mapping[str, object]], depth: int
) -> Iterator[PodSpec]:
    """Search depth first; `above` are the two groups around `value`, the nearer one last."""
    if depth == 0:
        return
    if isinstance(value, Mapping):
        if _is_pod_spec(value):
            yield PodSpec(path, value, above[0])
            return
        for key, item in value.items():
            if isinstance(item, Mapping | list):
                yield from _search(item, f"{path}.{key}" if path else str(key), (above[1], value), depth - 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _search(item, f"{path}[{index}]", above, depth - 1)


def _is_pod_spec(value: Mapping[object, object]) -> bool:
    containers = value.get("containers")
    return isinstance(containers, list) and any(
        isinstance(item, Mapping) and ("image" in item or "name" in item) for item in containers
    )


def may_touch_gpus(spec: Mapping[str, object]) -> bool:
    """Tell at a glance whether a pod asks for GPUs or claims, or reaches for them some other way."""
    if _is_written(spec.get("resourceClaims")):
        return True
    if any(_is_device(volume) for volume in elements(spec.get("volumes"))):
        return True
    return any(_container_may(item) for group in CONTAINER_GROUPS for item in elements(spec.get(group)))


def _is_written(value: object) -> bool:
    return value is not None and value != []


def _container_may(container: object) -> bool:
    if not isinstance(container, Mapping):
        return isinstance(container, Unknown)
    resources = container.get("resources")
    if isinstance(resources, Unknown):
        return True
    if isinstance(resources, Mapping):
        if _is_written(resources.get("claims")):
            return True
        if any(_asks_nvidia(resources.get(group)) for group in ("limits", "requests")):
            return True
    return any(_is_visible_devices(variable) for variable in elements(container.get("env")))


def _asks_nvidia(group: object) -> bool:
    if isinstance(group, Mapping):
        return any(isinstance(name, str) and name.startswith("nvidia.com/") for name in group)
    return isinstance(group, Unknown)


def _is_visible_devices(variable: object) -> bool:
    if isinstance(variable, Mapping):
        name = variable.get("name")
        return name == VISIBLE_DEVICES or isinstance(name, Unknown)
    return isinstance(variable, Unknown)


def _is_device(volume: object) -> bool:
    host = volume.get("hostPath") if isinstance(volume, Mapping) else volume
    path = host.get("path") if isinstance(host, Mapping) else host
    if isinstance(path, str):
        return normal(path).startswith(("/dev/nvidia", "/dev/null"))
    return isinstance(path, Unknown)


def elements(value: object) -> list[object]:
    """Return the elements of a list; something unknown is one unknown element, anything else none."""
    if isinstance(value, Unknown):
        return [value]
    return list(value) if isinstance(value, list | tuple) else []
