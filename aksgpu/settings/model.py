"""The shape of the stack's configuration (namespace `aksgpu`), with its defaults.

The defaults are the example of Microsoft's article on managed DRA. Descriptions and sources become the table in
docs/settings.md.
"""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from aksgpu.knowledge.pool_kinds import GPU_PROFILES, GpuProfile, PoolKind

PROJECT = "aksgpu"
"""The Pulumi project and the namespace of its configuration keys."""

ARTICLE = "DRA article"
KUBERNETES = "Kubernetes API"
AKS = "AKS API"
OURS = "this project"

MAXIMUM_DEVICES = 32
"""Devices of one claim: more are accepted by the API and never scheduled."""

DnsLabel = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
DnsSubdomain = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
ResourceGroup = Annotated[str, StringConstraints(pattern=r"^[\w()._-]{0,89}[\w()_-]$")]
ClusterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$")]
Location = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*$")]
Version = Annotated[str, StringConstraints(pattern=r"^\d{1,3}\.\d{1,3}(\.\d{1,3})?$")]
VmSize = Annotated[str, StringConstraints(pattern=r"^Standard_\w+$")]
Nodes = Annotated[int, Field(ge=1, le=1000)]
PoolNodes = Annotated[int, Field(ge=0, le=1000)]
Amount = Annotated[str, StringConstraints(pattern=r"^\d{1,4}%?$")]
TaintText = Annotated[str, StringConstraints(pattern=r"^[^=:\s]+(=[^:\s]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$")]
Zone = Annotated[str, StringConstraints(pattern=r"^[1-9]$")]
ArmId = Annotated[str, StringConstraints(pattern=r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/.+$")]
Devices = Annotated[int, Field(ge=1, le=MAXIMUM_DEVICES)]
CelExpression = Annotated[str, StringConstraints(pattern=r"\S")]


class Part(BaseModel):
    """A part of the configuration: camelCase keys, no unknown ones, no silent conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True)


class Doc(NamedTuple):
    """What the table in the docs says about a key."""

    text: str
    source: str


class SystemPool(Part):
    """The pool of a created cluster that runs the cluster's own pods."""

    vm_size: Annotated[VmSize, Doc("VM size, without GPUs", OURS)] = "Standard_D4s_v5"
    count: Annotated[Nodes, Doc("Nodes", OURS)] = 1


class CreateCluster(Part):
    """A cluster that the stack owns."""

    resource_group: Annotated[ResourceGroup, Doc("Resource group, created too", AKS)]
    name: Annotated[ClusterName, Doc("Name of the cluster", AKS)]
    location: Annotated[Location, Doc("Azure region, e.g. eastus", AKS)]
    kubernetes_version: Annotated[Version, Doc("Minor or patch version, in quotes", ARTICLE)] = "1.35"
    system_pool: Annotated[SystemPool, Doc("The pool for the cluster's own pods", AKS)] = SystemPool()


class UseCluster(Part):
    """A cluster that exists: never changed, never destroyed."""

    resource_group: Annotated[ResourceGroup, Doc("Resource group of the cluster", ARTICLE)]
    name: Annotated[ClusterName, Doc("Name of the cluster", ARTICLE)]


class ClusterSettings(Part):
    """Where the pools go; exactly one of the two."""

    create: Annotated[CreateCluster | None, Doc("Create this cluster", OURS)] = None
    use: Annotated[UseCluster | None, Doc("Add pools to this existing cluster", ARTICLE)] = None

    @property
    def one(self) -> CreateCluster | UseCluster:
        """The one that was given; loading refuses both and neither."""
        given = self.create or self.use
        assert given is not None  # noqa: S101 - `load` has checked it
        return given


class UpgradeSettings(Part):
    """How an upgrade goes through the nodes of a pool."""

    max_surge: Annotated[Amount | None, Doc("Nodes added before others are drained: a number or a percentage", AKS)] = (
        None
    )
    max_unavailable: Annotated[
        Amount | None, Doc("Nodes drained without a replacement: a number or a percentage", AKS)
    ] = None
    drain_timeout_minutes: Annotated[
        Annotated[int, Field(ge=5, le=1440)] | None, Doc("How long a drain may wait for disruption budgets", AKS)
    ] = None
    soak_minutes: Annotated[Annotated[int, Field(ge=0, le=30)] | None, Doc("How long to wait after each node", AKS)] = (
        None
    )


class PoolSettings(Part):
    """A node pool."""

    name: Annotated[str, Doc("1 to 12 lower-case letters and digits, starting with a letter", AKS)] = "gpunp"
    kind: Annotated[PoolKind, Doc("Fixes driver, managementMode and driverMode together", ARTICLE)] = "managed-dra"
    vm_size: Annotated[VmSize, Doc("VM size; with NVIDIA GPUs unless the kind is cpu", ARTICLE)] = (
        "Standard_NC24ads_A100_v4"
    )
    count: Annotated[PoolNodes, Doc("Nodes; 0 keeps the pool without machines", ARTICLE)] = 1
    os_sku: Annotated[str | None, Doc("OS SKU, e.g. Ubuntu; left out, AKS chooses", AKS)] = None
    taints: Annotated[
        list[TaintText] | None, Doc("Taints; left out, `sku=gpu:NoSchedule` on pools with GPUs, `[]` for none", ARTICLE)
    ] = None
    labels: Annotated[dict[str, str] | None, Doc("Labels of the nodes", AKS)] = None
    zones: Annotated[list[Zone] | None, Doc("Availability zones; left out, Azure chooses", AKS)] = None
    upgrade: Annotated[
        UpgradeSettings | None,
        Doc("How upgrades go through the nodes; left out, one at a time without a surge on pools with GPUs", OURS),
    ] = None
    spot: Annotated[bool, Doc("Spot machines, which Azure may take back at any time", AKS)] = False
    os_disk_type: Annotated[Literal["Managed", "Ephemeral"] | None, Doc("Left out, AKS chooses", AKS)] = None
    os_disk_gb: Annotated[Annotated[int, Field(ge=30, le=2048)] | None, Doc("Size of the OS disk in GB", AKS)] = None
    subnet_id: Annotated[ArmId | None, Doc("ARM id of the nodes' subnet", AKS)] = None
    capacity_reservation_group_id: Annotated[
        ArmId | None, Doc("ARM id of a capacity reservation group that holds the machines", AKS)
    ] = None
    proximity_placement_group_id: Annotated[ArmId | None, Doc("ARM id of a proximity placement group", AKS)] = None
    vm_tags: Annotated[dict[str, str] | None, Doc("Azure tags of the machines", AKS)] = None
    further_properties: Annotated[
        dict[str, Any] | None, Doc("Further properties, spelt as in the REST API; judged like all others", AKS)
    ] = None

    @property
    def gpu_profile(self) -> GpuProfile | None:
        """The GPU profile of the pool's kind; None for a pool without GPUs."""
        return GPU_PROFILES[self.kind]


class DeviceClassSettings(Part):
    """The DeviceClass that selects whole NVIDIA GPUs."""

    name: Annotated[DnsSubdomain, Doc("Name of the class", ARTICLE)] = "aks-dra-gpu"


class ClaimSettings(Part):
    """A ResourceClaim, or a ResourceClaimTemplate."""

    name: Annotated[DnsSubdomain, Doc("Name of the object", ARTICLE)]
    count: Annotated[Devices, Doc("GPUs, allocated together", ARTICLE)] = 1
    selectors: Annotated[
        list[CelExpression], Doc("CEL expressions that a GPU must satisfy besides the class's", KUBERNETES)
    ] = []


class NamespaceSettings(Part):
    """A namespace for GPU workloads."""

    name: Annotated[DnsLabel, Doc("Name of the namespace", ARTICLE)]
    claims: Annotated[list[ClaimSettings], Doc("ResourceClaims, shared by the pods that name them", ARTICLE)] = []
    claim_templates: Annotated[list[ClaimSettings], Doc("ResourceClaimTemplates, one claim for each pod", ARTICLE)] = []


class ValidationSettings(Part):
    """The Job that proves the allocation by running nvidia-smi."""

    namespace: Annotated[DnsLabel, Doc("Namespace of the Job", ARTICLE)] = "gpu-dra-example"
    claim: Annotated[DnsSubdomain, Doc("The claim it uses; declared in that namespace", ARTICLE)] = "gpu-claim"
    job: Annotated[DnsLabel, Doc("Name of the Job", ARTICLE)] = "gpu-dra-validation"
    pool: Annotated[str, Doc("The managed-dra pool it runs on", ARTICLE)] = "gpunp"


class Settings(Part):
    """The whole configuration."""

    cluster: Annotated[ClusterSettings, Doc("The cluster: create or use", OURS)]
    preview_feature: Annotated[
        Literal["require", "register"],
        Doc("Fail when ManagedGPUExperiencePreview isn't registered, or register it and wait", ARTICLE),
    ] = "require"
    protect: Annotated[bool, Doc("Refuse to delete or replace the created cluster and the pools", OURS)] = False
    pools: Annotated[list[PoolSettings], Doc("Node pools", ARTICLE)] = [PoolSettings()]
    device_class: Annotated[DeviceClassSettings, Doc("The class that claims name", ARTICLE)] = DeviceClassSettings()
    namespaces: Annotated[list[NamespaceSettings], Doc("Namespaces with their claims", ARTICLE)] = [
        NamespaceSettings(name="gpu-dra-example", claims=[ClaimSettings(name="gpu-claim")])
    ]
    validation: Annotated[
        ValidationSettings | None,
        Doc(
            "The validation Job; left out, it is the article's when its pool and claim are declared, else none", ARTICLE
        ),
    ] = None
