"""The shape of the stack's configuration (namespace `aksgpu`), with its defaults.

The defaults are the example of Microsoft's article on managed DRA. Descriptions and sources become the table in
docs/settings.md.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from aksgpu.knowledge.pool_kinds import GPU_PROFILES, GpuProfile, PoolKind
from aksgpu.settings.cluster import ClusterSettings
from aksgpu.settings.parts import (
    AKS,
    ARTICLE,
    KUBERNETES,
    OURS,
    Amount,
    ArmId,
    CelExpression,
    Devices,
    DnsLabel,
    DnsSubdomain,
    Doc,
    Part,
    PoolNodes,
    TaintText,
    VmSize,
    Zone,
)


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
    admission: Annotated[
        Literal["enforce", "warn", "off"],
        Doc("Let the API server refuse what breaks a rule, only warn about it, or not ask the rules", OURS),
    ] = "off"
    validation: Annotated[
        ValidationSettings | None,
        Doc(
            "The validation Job; left out, it is the article's when its pool and claim are declared, else none", ARTICLE
        ),
    ] = None
