"""The component NodePool."""

from functools import partial
from typing import Any, NotRequired, TypedDict

import pulumi
from pulumi_azure_native import containerservice, resources

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.knowledge.azure_api import MANAGED_DRA_API_VERSION
from aksgpu.readers.azure import NAMESPACE
from components import acceptance, live, pool_properties, typed
from components.preview_feature import PreviewFeature

IMMUTABLE = (
    "vmSize",
    "osSKU",
    "gpuProfile",
    "availabilityZones",
    "scaleSetPriority",
    "osDiskType",
    "osDiskSizeGB",
    "vnetSubnetID",
    "capacityReservationGroupID",
    "proximityPlacementGroupID",
)
"""What Azure fixes at creation, as paths inside a pool's properties; everything below a path is meant too."""


class PoolUpgrade(TypedDict):
    """How an upgrade goes through the nodes of a pool."""

    max_surge: NotRequired[str]
    """Nodes added before others are drained: a number or a percentage."""
    max_unavailable: NotRequired[str]
    """Nodes drained without a replacement: a number or a percentage. Needs no quota beyond the pool's own."""
    drain_timeout_minutes: NotRequired[int]
    """How long a drain may wait for disruption budgets, 5 to 1440; then the upgrade stops."""
    soak_minutes: NotRequired[int]
    """How long to wait after each node, 0 to 30."""


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
    """Taints of the nodes. Left out: `sku=gpu:NoSchedule` on pools with GPUs; an empty list means none."""
    labels: NotRequired[dict[str, str]]
    """Labels of the nodes."""
    zones: NotRequired[list[str]]
    """Availability zones, e.g. `1`; if left out, Azure chooses. A change replaces the pool."""
    upgrade: NotRequired[PoolUpgrade]
    """How upgrades go through the nodes. Left out: on pools with GPUs one node at a time without a surge, since spare
    GPU quota is rare; else AKS's default."""
    spot: NotRequired[bool]
    """Spot machines, which Azure may take back at any time. A change replaces the pool."""
    os_disk_type: NotRequired[str]
    """`Managed` or `Ephemeral`; if left out, AKS chooses. A change replaces the pool."""
    os_disk_gb: NotRequired[int]
    """Size of the OS disk in GB. A change replaces the pool."""
    subnet_id: NotRequired[str]
    """ARM id of the subnet of the nodes. A change replaces the pool."""
    capacity_reservation_group_id: NotRequired[str]
    """ARM id of a capacity reservation group that holds the machines. A change replaces the pool."""
    proximity_placement_group_id: NotRequired[str]
    """ARM id of a proximity placement group. A change replaces the pool."""
    vm_tags: NotRequired[dict[str, str]]
    """Azure tags of the machines."""
    further_properties: NotRequired[dict[str, Any]]
    """Further properties of the pool as the REST API spells them, e.g. `{"maxPods": 60}`; judged like all others."""
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
        self._profile = pool_properties.PROFILES.get(self._kind)
        # Checks are outputs, also where they could be made at once: what a constructor raises reaches programs in
        # other languages with a traceback.
        gates: dict[str, Any] = {
            "pool": pulumi.Output.from_input(self._kind).apply(self._judge_alone),
            "resource_group": args["resource_group_name"],
            "cluster": args["cluster_name"],
            "version": args.get("kubernetes_version"),
            "node_provisioning": args.get("node_provisioning"),
        }
        self._is_managed = self._profile is not None and self._profile.management_mode == "Managed"
        feature = self._gate() if self._is_managed else None
        if feature is not None:
            gates["feature"] = feature.state
        # The pool's properties wait for the gates, so nothing is registered that a live check refuses.
        properties = pulumi.Output.all(**gates).apply(self._judged)
        pool = self._managed(properties, feature) if feature is not None else self._typed(properties)
        self.pool_id = pool.id
        self.accepted = pool.id.apply(partial(acceptance.read_back, self, self._name, self._wanted()))
        self.pool_name = self.accepted.apply(lambda _: self._name)
        self.register_outputs({"poolId": self.pool_id, "poolName": self.pool_name, "accepted": self.accepted})

    def _gate(self) -> PreviewFeature:
        return PreviewFeature(
            f"{self._resource}-preview",
            {"mode": self._args.get("preview_feature", "require")},
            pulumi.ResourceOptions(parent=self),
        )

    def _judge_alone(self, _: object) -> list[str]:
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
        return self._asked()

    def _asked(self) -> dict[str, Any]:
        asked = self._properties()
        if not self._is_managed:
            self._typed_arguments(asked)  # refuses what it would lose
        return asked

    def _facts(self) -> PoolFacts:
        facts = pool_properties.facts(self._name, self._args)
        self._asked()  # refuses what would be lost on the way
        return facts

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
            **typed.inputs(properties.apply(self._typed_arguments), lambda: self._typed_arguments(self._properties())),
            opts=self._options(list(IMMUTABLE)),
        )

    def _properties(self) -> dict[str, Any]:
        return pool_properties.properties(self._name, self._args)

    def _typed_arguments(self, asked: dict[str, Any]) -> dict[str, Any]:
        return typed.arguments(f"Pool {self._name}", containerservice.AgentPoolArgs, asked)

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

    def _wanted(self) -> dict[str, str | None]:
        """Return what Azure has to have accepted."""
        wanted = {"osSku": self._args.get("os_sku")}
        if self._profile is None:
            return wanted
        return wanted | {
            "driver": self._profile.driver,
            "managementMode": self._profile.management_mode,
            "driverMode": self._profile.driver_mode,
        }
