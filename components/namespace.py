"""The component GpuNamespace."""

from typing import NotRequired, TypedDict

import pulumi

from components import live, ownership
from components.claim import GpuClaim
from components.claim_template import GpuClaimTemplate
from components.kubernetes_object import KubernetesObject


class NamedClaim(TypedDict):
    """A claim, or a template of claims, of a namespace."""

    name: str
    """Its name, one of a kind in the namespace."""
    count: NotRequired[int]
    """Number of GPUs, 1 if left out."""
    selectors: NotRequired[list[str]]
    """CEL expressions that a device has to meet besides those of the class."""


class GpuNamespaceArgs(TypedDict):
    """What a GpuNamespace takes."""

    name: NotRequired[str]
    """Name of the Namespace; `gpu-dra-example` if left out."""
    device_class_name: pulumi.Input[str]
    """DeviceClass that its claims take devices from."""
    claims: NotRequired[list[NamedClaim]]
    """ResourceClaims, each for one consumer at a time."""
    claim_templates: NotRequired[list[NamedClaim]]
    """ResourceClaimTemplates, for workloads with replicas."""
    kubeconfig: NotRequired[pulumi.Input[str]]
    """Kubeconfig for the live checks: that of the Kubernetes provider in use. If left out, the ambient one."""


class GpuNamespace(pulumi.ComponentResource):
    """A namespace of an application team, with the claims and claim templates it may use."""

    namespace_name: pulumi.Output[str]
    """The name of the namespace."""
    claim_names: pulumi.Output[dict[str, str]]
    """The claims by name. Consumers refer to a claim by what stands here, so that they go before the claim does."""

    def __init__(self, name: str, args: GpuNamespaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:GpuNamespace", name, {}, opts)
        namespace_name = args.get("name", "gpu-dra-example")
        kubeconfig = args.get("kubeconfig")
        metadata = ownership.marked(ownership.NAMESPACE, namespace_name, kubeconfig)
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        namespace = KubernetesObject(name, manifest, pulumi.ResourceOptions(parent=self))
        self.namespace_name = live.after(namespace, namespace_name)
        inside = pulumi.ResourceOptions(parent=self)
        self.claims = {
            claim["name"]: GpuClaim(
                f"{namespace_name}/{claim['name']}",
                {
                    **claim,
                    "namespace": self.namespace_name,
                    "device_class_name": args["device_class_name"],
                    **_checked_with(kubeconfig),
                },
                inside,
            )
            for claim in args.get("claims", [])
        }
        for template in args.get("claim_templates", []):
            GpuClaimTemplate(
                f"{namespace_name}/{template['name']}",
                {
                    **template,
                    "namespace": self.namespace_name,
                    "device_class_name": args["device_class_name"],
                    **_checked_with(kubeconfig),
                },
                inside,
            )
        self.claim_names = pulumi.Output.all(**{key: claim.claim_name for key, claim in self.claims.items()})
        self.register_outputs({"namespaceName": self.namespace_name, "claimNames": self.claim_names})


class _Kubeconfig(TypedDict, total=False):
    kubeconfig: pulumi.Input[str]


def _checked_with(kubeconfig: pulumi.Input[str] | None) -> _Kubeconfig:
    return {} if kubeconfig is None else {"kubeconfig": kubeconfig}
