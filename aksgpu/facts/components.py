"""Software in a cluster that touches GPUs: device plugins, DRA drivers, operators."""

from typing import Literal

from aksgpu.facts.base import Facts, Malformed, Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.nodes import Selection, Toleration
from aksgpu.facts.truth import Maybe

Product = Literal["device-plugin", "dra-driver", "gpu-operator"]
"""A device plugin, NVIDIA's DRA driver, or the NVIDIA GPU Operator."""


class GpuComponent(Facts):
    """A DaemonSet, Helm release or chart that would handle the GPUs of the nodes it runs on."""

    place: Place
    product: Product
    description: str
    """In a sentence, e.g. `DaemonSet kube-system/nvidia-device-plugin`."""
    part_of: str | None = None
    """The object of the chart that made it."""
    cluster: ClusterRef = ANY_CLUSTER
    selection: Maybe[Selection] = Selection()
    tolerations: Maybe[tuple[Toleration, ...]] = ()
    enabled: Maybe[bool] = True
    device_plugin: Maybe[bool] = False
    """Whether it advertises `nvidia.com/gpu`."""
    dra: Maybe[bool] = False
    """Whether it publishes whole GPUs as ResourceSlices."""
    driver: Maybe[bool] = False
    """Whether it installs the kernel driver."""
    toolkit: Maybe[bool] = False
    """Whether it configures the container runtime."""
    malformed: tuple[Malformed, ...] = ()
