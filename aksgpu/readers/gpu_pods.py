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
from aksgpu.knowledge import gpu_software
from aksgpu.knowledge.paths import normal
from aksgpu.readers.fields import Fields
from aksgpu.readers.placement import read_selection, read_tolerations
from aksgpu.readers.pod_specs import CONTAINER_GROUPS, POD_SPECS, elements

_PLUGIN_PATHS = {gpu_software.PLUGIN_FOLDER, f"{gpu_software.PLUGIN_FOLDER}/kubelet.sock"}
_PLUGIN, _DRA_DRIVER, _DRA_IMAGE, _OTHER_DEVICES = (
    re.compile(text, re.IGNORECASE)
    for text in (gpu_software.PLUGIN, gpu_software.DRA_DRIVER, gpu_software.DRA_IMAGE, gpu_software.OTHER_DEVICES)
)

Product = Literal["device-plugin", "dra-driver"]


class _Traits(NamedTuple):
    """What decides what a pod is."""

    texts: tuple[str, ...]
    """Of each container: the end of its image's path, without registry and tag, and the program it starts. Arguments
    say nothing: a Job may name a plugin in order to delete it.
    """
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
    if any(_PLUGIN.search(item) and not _OTHER_DEVICES.search(item) for item in traits.texts):
        return "device-plugin", True
    paths = [normal(path) for path in traits.host_paths]
    if any(f"{path}/".startswith(f"{gpu_software.DRA_DRIVER_FOLDER}/") for path in paths):
        return "dra-driver", True
    if any(path in _PLUGIN_PATHS for path in paths):
        return "device-plugin", not _OTHER_DEVICES.search(f"{name} {text}")
    if _DRA_IMAGE.search(text) and kind == "DaemonSet" and not any("plugin" in item for item in traits.texts):
        return "dra-driver", True  # the image's own command is the GPU plugin
    # Only a DaemonSet is likely enough to be one of them to be worth a word before everything is known.
    return "device-plugin", False if traits.complete or kind != "DaemonSet" else UNKNOWN


def _traits(fields: Fields, spec: str) -> _Traits:
    texts: list[str] = []
    everything: list[object] = []
    for group in ("containers", "initContainers"):
        for container in elements(fields.raw(f"{spec}.{group}")):
            image, command = _get(container, "image"), elements(_get(container, "command"))
            everything += [image, *command, *elements(_get(container, "args"))]
            program = _program([*command, *elements(_get(container, "args"))]) if command else ""
            if program not in gpu_software.PLUGIN_HELPERS:
                texts += [text for text in (_repository(image), program) if text]
    paths = list(_host_paths(fields, spec))
    return _Traits(
        texts=tuple(texts),
        host_paths=tuple(path for path in paths if isinstance(path, str)),
        complete=not any(isinstance(value, Unknown) for value in (*everything, *paths)),
    )


def _host_paths(fields: Fields, spec: str) -> Iterator[object]:
    """Yield the paths of the node that a pod gets: whole volumes, and the parts of them that containers mount."""
    for volume in elements(fields.raw(f"{spec}.volumes")):
        path = _get(_get(volume, "hostPath"), "path")
        yield path
        for sub_path in _sub_paths(fields, spec, _get(volume, "name")) if isinstance(path, str) else ():
            yield f"{path}/{sub_path}"


def _sub_paths(fields: Fields, spec: str, volume: object) -> Iterator[str]:
    for group in CONTAINER_GROUPS:
        for container in elements(fields.raw(f"{spec}.{group}")):
            for mount in elements(_get(container, "volumeMounts")):
                sub_path = _get(mount, "subPath")
                if _get(mount, "name") == volume and isinstance(sub_path, str):
                    yield sub_path


def _repository(image: object) -> str:
    """Return the last two parts of an image's path: `nvidia/k8s-device-plugin`."""
    if not isinstance(image, str):
        return ""
    parts = image.partition("@")[0].split("/")
    parts[-1] = parts[-1].partition(":")[0]
    host = parts[0] if len(parts) > 1 and ("." in parts[0] or ":" in parts[0] or parts[0] == "localhost") else None
    return "/".join(parts[1 if host else 0 :][-2:]).replace("_", "-")


def _program(arguments: list[object]) -> str:
    """Return the name of the program that a container starts; in a shell, that of the script's first command."""
    words = [word for word in arguments if isinstance(word, str)]
    if words and posixpath.basename(words[0]) in gpu_software.SHELLS and "-c" in words[:-1]:
        words = words[words.index("-c") + 1].removeprefix("exec ").split()
    return posixpath.basename(words[0]) if words else ""


def _get(value: object, key: str) -> object:
    if isinstance(value, Unknown):
        return UNKNOWN
    return value.get(key) if isinstance(value, Mapping) else None
