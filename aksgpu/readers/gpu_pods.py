"""Recognises device plugins and DRA drivers for NVIDIA GPUs among Kubernetes workloads, by what they are rather than
what they are called."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Selection, Toleration
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown
from aksgpu.readers.fields import Fields
from aksgpu.readers.placement import read_selection, read_tolerations

POD_SPECS = {
    "Pod": "spec",
    "DaemonSet": "spec.template.spec",
    "Deployment": "spec.template.spec",
    "ReplicaSet": "spec.template.spec",
    "ReplicationController": "spec.template.spec",
    "StatefulSet": "spec.template.spec",
    "Job": "spec.template.spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
"""Where each kind keeps its pod spec."""

_PLUGIN_FOLDER = "/var/lib/kubelet/device-plugins"
_PLUGIN = re.compile(r"(?:nvidia|k8s|gpu)[\w.-]*device-plugin|nvdp", re.IGNORECASE)
_DRA_DRIVER = re.compile(r"gpu-kubelet-plugin", re.IGNORECASE)
_DRA_IMAGE = re.compile(r"dra-driver-nvidia-gpu|nvidia-dra-driver|k8s-dra-driver-gpu", re.IGNORECASE)
_OTHER_DEVICES = re.compile(
    r"rdma|sriov|sr-iov|(?<!\w)amd(?!64)|rocm|intel|habana|gaudi|xilinx|fpga|kubevirt|kvm|smarter|akri|qat|(?<!\w)tpu|"
    r"neuron|ascend|(?<!\w)sgx|fuse|network",
    re.IGNORECASE,
)
"""Words of device plugins for other devices; they use the same folder."""

Product = Literal["device-plugin", "dra-driver"]


class _Traits(NamedTuple):
    """What decides what a pod is."""

    texts: tuple[str, ...]
    """Images, commands and arguments of all containers."""
    host_paths: tuple[str, ...]
    complete: bool
    """False when some of them aren't known yet."""


def read_workload(kind: str, place: Place, data: object, cluster: ClusterRef, part_of: str | None) -> Estate:
    """Return the GPU component that a workload is; an empty estate for any other."""
    fields = Fields(data)
    spec = POD_SPECS[kind]
    name = fields.raw("metadata.name")
    traits = _traits(fields, spec)
    product, truth = _identify(str(name), traits, kind)
    if truth is False:
        return Estate()
    namespace = fields.raw("metadata.namespace")
    title = f"{namespace}/{name}" if isinstance(namespace, str) else str(name)
    located = Fields(fields.raw(spec), prefix=f"{spec}.")
    selection, tolerations = _placement(located)
    component = GpuComponent(
        place=place,
        product=product,
        description=f"{kind} {title}",
        cluster=cluster,
        part_of=part_of,
        selection=selection,
        tolerations=tolerations,
        device_plugin=truth if product == "device-plugin" else False,
        dra=truth if product == "dra-driver" else False,
        malformed=located.problems,
    )
    return Estate(components=(component,))


def _placement(spec: Fields) -> tuple[Maybe[Selection], Maybe[tuple[Toleration, ...]]]:
    if spec.raw("nodeName") is not None:
        # It bypasses the scheduler: no selector and no NoSchedule taint keeps such a pod away from any node.
        return Selection(), (Toleration(operator="Exists"),)
    return read_selection(spec, "nodeSelector", "affinity"), read_tolerations(spec, "tolerations")


def _identify(name: str, traits: _Traits, kind: str) -> tuple[Product, Truth]:
    """Return the product and whether the pod is it; unknown when what is known doesn't settle it."""
    text = " ".join(traits.texts)
    if _DRA_DRIVER.search(text):
        return "dra-driver", True
    if _PLUGIN.search(text) and not _OTHER_DEVICES.search(text):
        return "device-plugin", True
    if any(_is_below(path, _PLUGIN_FOLDER) for path in traits.host_paths):
        return "device-plugin", not _OTHER_DEVICES.search(f"{name} {text}")
    if _DRA_IMAGE.search(text) and kind == "DaemonSet" and not any("plugin" in item for item in traits.texts):
        return "dra-driver", True  # the image's own command is the GPU plugin
    # Only a DaemonSet is likely enough to be one of them to be worth a word before everything is known.
    return "device-plugin", False if traits.complete or kind != "DaemonSet" else UNKNOWN


def _is_below(path: str, folder: str) -> bool:
    clean = posixpath.normpath(path)
    return clean == folder or clean.startswith(f"{folder}/")


def _traits(fields: Fields, spec: str) -> _Traits:
    texts: list[object] = []
    for group in ("containers", "initContainers"):
        for container in _groups(fields.raw(f"{spec}.{group}")):
            texts += [_get(container, "image"), *_list(_get(container, "command")), *_list(_get(container, "args"))]
    paths = [_get(_get(volume, "hostPath"), "path") for volume in _groups(fields.raw(f"{spec}.volumes"))]
    everything = [*texts, *paths]
    return _Traits(
        texts=tuple(text for text in texts if isinstance(text, str)),
        host_paths=tuple(path for path in paths if isinstance(path, str)),
        complete=not any(isinstance(value, Unknown) for value in everything),
    )


def _groups(value: object) -> Iterator[object]:
    yield from _list(value)


def _list(value: object) -> list[object]:
    """Return the elements of a list; something unknown is one unknown element, anything else none."""
    if isinstance(value, Unknown):
        return [UNKNOWN]
    if isinstance(value, list | tuple):
        return list(value)
    return []


def _get(value: object, key: str) -> object:
    if isinstance(value, Unknown):
        return UNKNOWN
    return value.get(key) if isinstance(value, Mapping) else None
