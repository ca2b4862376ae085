"""The component GpuClaimTemplate."""

from typing import NotRequired, TypedDict

import pulumi
from pulumi_kubernetes.resource import v1 as resource

from components import device_request, live, ownership


class GpuClaimTemplateArgs(TypedDict):
    """What a GpuClaimTemplate takes."""

    name: str
    """Name of the ResourceClaimTemplate."""
    namespace: pulumi.Input[str]
    """Namespace of the template, and so of the pods that use it."""
    device_class_name: pulumi.Input[str]
    """DeviceClass to take devices from; pass the `className` of a GpuDeviceClass."""
    count: NotRequired[int]
    """Number of GPUs of each claim, 1 if left out."""
    selectors: NotRequired[list[str]]
    """CEL expressions that a device has to meet besides those of the class."""
    kubeconfig: NotRequired[pulumi.Input[str]]
    """Kubeconfig for the live checks: that of the Kubernetes provider in use. If left out, the ambient one."""


class GpuClaimTemplate(pulumi.ComponentResource):
    """A ResourceClaimTemplate: every pod that refers to it gets a claim, and so GPUs, of its own."""

    template_name: pulumi.Output[str]
    """The name of the template; pods refer to it in `resourceClaimTemplateName`."""

    def __init__(self, name: str, args: GpuClaimTemplateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:GpuClaimTemplate", name, {}, opts)
        template = resource.ResourceClaimTemplate(
            name,
            metadata=ownership.marked(
                ownership.RESOURCE_CLAIM_TEMPLATE, args["name"], args.get("kubeconfig"), args["namespace"]
            ),
            spec={
                "spec": {
                    "devices": device_request.devices(
                        args["device_class_name"], args.get("count", 1), args.get("selectors", [])
                    )
                }
            },
            opts=device_request.immutable(self),
        )
        self.template_name = live.after(template, args["name"])
        self.register_outputs({"templateName": self.template_name})
