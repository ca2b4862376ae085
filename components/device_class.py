"""The component GpuDeviceClass."""

from typing import NotRequired, TypedDict

import pulumi
from pulumi_kubernetes.resource import v1 as resource

from components import live, ownership

WHOLE_NVIDIA_GPU = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
"""CEL: a whole GPU (no MIG slice) of NVIDIA's DRA driver."""


class GpuDeviceClassArgs(TypedDict):
    """What a GpuDeviceClass takes."""

    name: NotRequired[str]
    """Name of the DeviceClass; `aks-dra-gpu` if left out."""
    selectors: NotRequired[list[str]]
    """CEL expressions, all of which a device has to meet; if left out, whole NVIDIA GPUs."""
    kubeconfig: NotRequired[pulumi.Input[str]]
    """Kubeconfig for the live checks: that of the Kubernetes provider in use. If left out, the ambient one."""


class GpuDeviceClass(pulumi.ComponentResource):
    """A DeviceClass that selects GPUs. One that exists and isn't this stack's is refused, already in preview."""

    class_name: pulumi.Output[str]
    """The name of the DeviceClass; claims refer to it."""

    def __init__(self, name: str, args: GpuDeviceClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:GpuDeviceClass", name, {}, opts)
        class_name = args.get("name", "aks-dra-gpu")
        selectors = args.get("selectors") or [WHOLE_NVIDIA_GPU]
        device_class = resource.DeviceClass(
            name,
            metadata=ownership.marked(ownership.DEVICE_CLASS, class_name, args.get("kubeconfig")),
            spec={"selectors": [{"cel": {"expression": expression}} for expression in selectors]},
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.class_name = live.after(device_class, class_name)
        self.register_outputs({"className": self.class_name})
