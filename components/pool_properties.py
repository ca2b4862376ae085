"""What a NodePool asks Azure for, in the spelling of the REST API."""

from collections.abc import Mapping
from typing import Any

from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.knowledge.azure_api import MANAGED_DRA_API_VERSION
from aksgpu.knowledge.pool_kinds import GPU_PROFILES, GpuProfile
from aksgpu.readers.azure import NAMESPACE
from aksgpu.readers.pulumi_resources import PulumiResource, read
from components import live, typed

GENERIC = "azure-native:resources:Resource"

GPU_TAINT = "sku=gpu:NoSchedule"
"""Keeps pods without GPUs off GPU nodes; AKS adds no taint of its own, and its articles use this one."""

PROFILES: dict[str, GpuProfile | None] = {str(kind): profile for kind, profile in GPU_PROFILES.items()}
"""The GPU profile of each kind."""
_OPTIONAL = {
    "os_sku": "osSKU",
    "labels": "nodeLabels",
    "zones": "availabilityZones",
    "os_disk_type": "osDiskType",
    "os_disk_gb": "osDiskSizeGB",
    "subnet_id": "vnetSubnetID",
    "capacity_reservation_group_id": "capacityReservationGroupID",
    "proximity_placement_group_id": "proximityPlacementGroupID",
    "vm_tags": "tags",
}
_UPGRADE = {
    "max_surge": "maxSurge",
    "max_unavailable": "maxUnavailable",
    "drain_timeout_minutes": "drainTimeoutInMinutes",
    "soak_minutes": "nodeSoakDurationInMinutes",
}


def profile_of(name: str, kind: str) -> GpuProfile | None:
    """Return the GPU profile of a kind; refuse a word that is none."""
    if kind not in PROFILES:
        raise live.RefusedError(f"Pool {name}: there is no kind '{kind}'. Kinds: {', '.join(PROFILES)}.")
    return PROFILES[kind]


def properties(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return `properties` of a pool's request; refuse counts that are no whole numbers and further keys we set."""
    profile = profile_of(name, args.get("kind", "managed-dra"))
    asked: dict[str, Any] = {
        "type": "VirtualMachineScaleSets",
        "mode": "User",
        "osType": "Linux",
        "vmSize": args["vm_size"],
        "count": live.whole(f"Pool {name}: count", args.get("count", 1), 0),
        "enableAutoScaling": False,
    }
    asked |= {rest: args[key] for key, rest in _OPTIONAL.items() if args.get(key)}
    taints = args.get("taints", [GPU_TAINT] if profile is not None else [])
    if taints:
        asked["nodeTaints"] = list(taints)
    if profile is not None:
        asked["gpuProfile"] = _gpu_profile(profile)
    if args.get("spot"):
        # Deleted nodes free their quota; -1 means up to the price of an ordinary machine.
        asked |= {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}
    upgrade = _upgrade(name, args.get("upgrade", {}), profile)
    if upgrade:
        asked["upgradeSettings"] = upgrade
    decided = {**asked, **dict.fromkeys((*_OPTIONAL.values(), "gpuProfile", "nodeTaints", "scaleSetPriority"))}
    return asked | typed.further(f"Pool {name}", decided, args.get("further_properties", {}))


def facts(name: str, args: Mapping[str, Any]) -> PoolFacts:
    """Read what is asked for as the policy packs read it; how it is sent is the component's own business."""
    request = {
        "resourceProviderNamespace": NAMESPACE,
        "resourceType": "agentPools",
        "apiVersion": MANAGED_DRA_API_VERSION,
        "properties": properties(name, args),
    }
    (pool,) = read(PulumiResource(GENERIC, f"pool {name}", request)).pools
    return pool.model_copy(update={"form": PoolForm(kind="settings"), "name": name, "cluster": ClusterRef()})


def _upgrade(name: str, given: Mapping[str, Any], profile: GpuProfile | None) -> dict[str, Any]:
    # GPU nodes seldom have quota for a surge, so an upgrade takes a node away before it brings the new one.
    chosen = {"max_surge": "0", "max_unavailable": "1"} if profile is not None and not given else given
    minutes = {"drain_timeout_minutes", "soak_minutes"}
    return {
        rest: live.whole(f"Pool {name}: {key}", chosen[key], 0) if key in minutes else str(chosen[key])
        for key, rest in _UPGRADE.items()
        if chosen.get(key) is not None
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
