"""The component GpuClaim."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi
from pulumi_kubernetes.resource import v1 as resource

from components import device_request, live, ownership


class GpuClaimArgs(TypedDict):
    """What a GpuClaim takes."""

    name: NotRequired[str]
    """Name of the ResourceClaim; `gpu-claim` if left out."""
    namespace: pulumi.Input[str]
    """Namespace of the claim, and so of the pods that use it."""
    device_class_name: pulumi.Input[str]
    """DeviceClass to take devices from; pass the `className` of a GpuDeviceClass."""
    count: NotRequired[int]
    """Number of GPUs, 1 if left out."""
    selectors: NotRequired[list[str]]
    """CEL expressions that a device has to meet besides those of the class."""
    kubeconfig: NotRequired[pulumi.Input[str]]
    """Kubeconfig for the live checks: that of the Kubernetes provider in use. If left out, the ambient one."""


class GpuClaim(pulumi.ComponentResource):
    """A ResourceClaim for whole GPUs. It can't be changed in place: any change replaces it and what refers to it."""

    claim_name: pulumi.Output[str]
    """The name of the claim. Refer to the claim by this output, so that consumers go before the claim does."""

    def __init__(self, name: str, args: GpuClaimArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:GpuClaim", name, {}, opts)
        claim_name = args.get("name", "gpu-claim")
        wanted = (args.get("count", 1), args.get("selectors", []))

        async def look(found: Mapping[str, Any]) -> None:
            users = [user["name"] for user in found.get("status", {}).get("reservedFor", [])]
            device_class = await pulumi.Output.from_input(args["device_class_name"]).future()
            if users and not device_request.same(found["spec"]["devices"], str(device_class), *wanted):
                pulumi.log.warn(
                    f"The ResourceClaim {claim_name} has to be replaced, and Kubernetes keeps it until its users are "
                    f"gone: {', '.join(users)}. What this stack runs goes by itself; delete the others.",
                    self,
                )

        claim = resource.ResourceClaim(
            name,
            metadata=ownership.marked(
                ownership.RESOURCE_CLAIM, claim_name, args.get("kubeconfig"), args["namespace"], look=look
            ),
            spec={"devices": device_request.devices(args["device_class_name"], *wanted)},
            opts=device_request.immutable(self),
        )
        self.claim_name = live.after(claim, claim_name)
        self.register_outputs({"claimName": self.claim_name})
