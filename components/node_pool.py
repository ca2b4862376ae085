"""The component NodePool."""

from functools import partial
from typing import Any, NotRequired, TypedDict

import pulumi
from pulumi_azure_native import containerservice, resources

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.knowledge.azure_api import MANAGED_DRA_API_VERSION
from aksgpu.knowledge.pool_kinds import GPU_PROFILES, GpuProfile
from aksgpu.readers.azure import NAMESPACE
from components import acceptance, live
from components.preview_feature import PreviewFeature

IMMUTABLE = ("vmSize", "osSKU", "gpuProfile")
"""What Azure fixes at creation, as paths inside a pool's properties; everything below a path is meant too."""


_PROFILES: dict[str, GpuProfile | None] = {str(kind): profile for kind, profile in GPU_PROFILES.items()}


class NodePoolArgs(TypedDict):
    """What a NodePool takes."""

    kind: NotRequired[str]
    """`managed-dra` (if left out): AKS runs NVIDIA's DRA driver. `managed-device-plugin`: AKS runs the device plugin,
    which advertises `nvidia.com/gpu`. `driver-only`: AKS installs the driver and nothing else. `operator-managed`: not
    even the driver, the NVIDIA GPU Operator brings it. `cpu`: no GPUs. A change replaces the pool."""
    name: NotRequired[str]
    """Name of the pool, at most 12 lower-case letters and digits; `gpunp` if left out."""

    resource_group_name: pulumi.Input[str]
    """Resource group of the cluster."""
    cluster_name: pulumi.Input[str]
    """Name of the cluster."""
    vm_size: str
    """VM size of the nodes, e.g. `Standard_NC24ads_A100_v4`. A change replaces the pool."""
    count: NotRequired[int]
    """Number of nodes, 1 if left out."""
    os_sku: NotRequired[str]
    """OS SKU of the nodes, e.g. `Ubuntu`; if left out, AKS chooses. A change replaces the pool."""
    taints: NotRequired[list[str]]
    """Taints of the nodes, e.g. `sku=gpu:NoSchedule`."""
    labels: NotRequired[dict[str, str]]
    """Labels of the nodes."""
    kubernetes_version: NotRequired[pulumi.Input[str]]
    """Kubernetes version of the cluster, for the rules; pass the output of a Cluster."""
    node_provisioning: NotRequired[pulumi.Input[str]]
    """Node provisioning mode of the cluster (Manual or Auto), for the rules; pass the output of a Cluster."""
    preview_feature: NotRequired[str]
    """What managed kinds do about the preview feature: `require` (if left out) or `register`."""
    protect: NotRequired[bool]
    """Refuse to delete or replace the pool, as production should."""


class NodePool(pulumi.ComponentResource):
    """A node pool of one kind; a kind fixes driver, management and driver mode together.

    It is judged by the rule book before anything is created, and what Azure accepted is read back on every run.
    """

    pool_id: pulumi.Output[str]
    """The ARM id of the pool."""
    pool_name: pulumi.Output[str]
    """The name of the pool, known once what Azure accepted was found to be what was asked for."""
    accepted: pulumi.Output[dict[str, str]]
    """What Azure accepted: provisioningState, osSku, driver, managementMode, driverMode."""

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:NodePool", name, {}, opts)
        self._resource, self._args, self._name = name, args, args.get("name", "gpunp")
        self._kind = args.get("kind", "managed-dra")
        self._profile = _PROFILES.get(self._kind)
        # Checks are outputs, also where they could be made at once: what a constructor raises reaches programs in
        # other languages with a traceback.
        gates: dict[str, Any] = {
            "pool": pulumi.Output.from_input(self._kind).apply(self._judge_alone),
            "resource_group": args["resource_group_name"],
            "cluster": args["cluster_name"],
            "version": args.get("kubernetes_version"),
            "node_provisioning": args.get("node_provisioning"),
        }
        managed = self._profile is not None and self._profile.management_mode == "Managed"
        feature = self._gate() if managed else None
        if feature is not None:
            gates["feature"] = feature.state
        # The pool's properties wait for the gates, so nothing is registered that a live check refuses.
        properties = pulumi.Output.all(**gates).apply(self._judged)
        pool = self._managed(properties, feature) if feature is not None else self._typed(properties)
        self.pool_id = pool.id
        self.accepted = pool.id.apply(partial(acceptance.read_back, self, self._name, self._asked()))
        self.pool_name = self.accepted.apply(lambda _: self._name)
        self.register_outputs({"poolId": self.pool_id, "poolName": self.pool_name, "accepted": self.accepted})

    def _gate(self) -> PreviewFeature:
        return PreviewFeature(
            f"{self._resource}-preview",
            {"mode": self._args.get("preview_feature", "require")},
            pulumi.ResourceOptions(parent=self),
        )

    def _judge_alone(self, kind: str) -> list[str]:
        if kind not in _PROFILES:
            raise live.RefusedError(f"Pool {self._name}: there is no kind '{kind}'. Kinds: {', '.join(_PROFILES)}.")
        return live.judge(Estate(pools=(self._facts(),)))

    def _judged(self, gates: dict[str, Any]) -> dict[str, Any]:
        """Judge the pool together with its cluster, then return the properties to ask Azure for."""
        cluster = ClusterFacts(
            place=Place(object=f"cluster {gates['cluster']}"),
            name=gates["cluster"],
            resource_group=gates["resource_group"],
            kubernetes_version=gates["version"],
            node_provisioning=gates["node_provisioning"],
        )
        ref = ClusterRef(name=cluster.name, resource_group=cluster.resource_group)
        together = Estate(clusters=(cluster,), pools=(self._facts().model_copy(update={"cluster": ref}),))
        live.judge(together, told=gates["pool"])
        return self._properties()

    def _facts(self) -> PoolFacts:
        return PoolFacts(
            place=Place(object=f"pool {self._name}"),
            form=PoolForm(kind="settings"),
            name=self._name,
            vm_size=self._args["vm_size"],
            os_sku=self._args.get("os_sku"),
            count=self._count,
            autoscaling=False,
            gpu_driver=self._profile.driver if self._profile is not None else None,
            management_mode=self._profile.management_mode if self._profile is not None else None,
            driver_mode=self._profile.driver_mode if self._profile is not None else None,
        )

    @property
    def _count(self) -> int:
        return live.whole(f"Pool {self._name}: count", self._args.get("count", 1), 0)

    def _properties(self) -> dict[str, Any]:
        """Return `properties` of the pool's request."""
        properties: dict[str, Any] = {
            "type": "VirtualMachineScaleSets",
            "mode": "User",
            "osType": "Linux",
            "vmSize": self._args["vm_size"],
            "count": self._count,
            "enableAutoScaling": False,
        }
        if self._profile is not None:
            properties["gpuProfile"] = _gpu_profile(self._profile)
        optional = {
            "osSKU": self._args.get("os_sku"),
            "nodeTaints": self._args.get("taints"),
            "nodeLabels": self._args.get("labels"),
        }
        return properties | {key: value for key, value in optional.items() if value}

    def _managed(self, properties: pulumi.Output[dict[str, Any]], feature: PreviewFeature) -> resources.Resource:
        """Create a managed pool through the generic resource.

        The typed AgentPool has no driverMode and drops it silently, which would give a device-plugin pool.
        """
        return resources.Resource(
            self._resource,
            api_version=MANAGED_DRA_API_VERSION,
            resource_group_name=self._args["resource_group_name"],
            resource_provider_namespace=NAMESPACE,
            parent_resource_path=pulumi.Output.concat("managedClusters/", self._args["cluster_name"]),
            resource_type="agentPools",
            resource_name_=self._name,
            properties=properties,
            opts=self._options(
                [f"properties.{path}" for path in IMMUTABLE],
                pulumi.ResourceHookBinding(before_create=[feature.before_create]),
            ),
        )

    def _typed(self, properties: pulumi.Output[dict[str, Any]]) -> containerservice.AgentPool:
        """Create a pool that AKS doesn't manage the GPU software of."""
        return containerservice.AgentPool(
            self._resource,
            resource_group_name=self._args["resource_group_name"],
            resource_name_=self._args["cluster_name"],
            agent_pool_name=self._name,
            type=properties["type"],
            mode=properties["mode"],
            os_type=properties["osType"],
            vm_size=properties["vmSize"],
            count=properties["count"],
            enable_auto_scaling=properties["enableAutoScaling"],
            gpu_profile=properties.apply(lambda known: known.get("gpuProfile")),
            os_sku=self._args.get("os_sku"),
            node_taints=self._args.get("taints"),
            node_labels=self._args.get("labels"),
            opts=self._options(list(IMMUTABLE)),
        )

    def _options(
        self, replace_on_changes: list[str], hooks: pulumi.ResourceHookBinding | None = None
    ) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(
            parent=self,
            hooks=hooks,
            # azure-native takes these for updates, which Azure refuses.
            replace_on_changes=replace_on_changes,
            # The engine would create first and then delete, under one name: that deletes the new pool.
            delete_before_replace=True,
            protect=self._args.get("protect"),
        )

    def _asked(self) -> dict[str, str | None]:
        asked = {"osSku": self._args.get("os_sku")}
        if self._profile is None:
            return asked
        return asked | {
            "driver": self._profile.driver,
            "managementMode": self._profile.management_mode,
            "driverMode": self._profile.driver_mode,
        }


def _gpu_profile(profile: GpuProfile) -> dict[str, Any]:
    """Return gpuProfile with every field written out, so that no default of Azure can plan as a change."""
    if profile.management_mode == "Unmanaged":
        return {"driver": profile.driver}  # all that the typed resource's api-version has
    return {
        "driver": profile.driver,
        "nvidia": {
            "managementMode": profile.management_mode,
            "driverMode": profile.driver_mode,
            "migStrategy": "None",
        },
    }
