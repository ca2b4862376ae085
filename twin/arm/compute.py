"""Microsoft.Compute, as far as node pools need it: quotas, VM sizes and where they can be bought."""

from collections.abc import Iterator
from typing import Any

from twin.arm.errors import ArmError
from twin.arm.http import Reply, Request
from twin.arm.service import CLUSTERS, POOLS, Service
from twin.arm.settings import LOCATIONS
from twin.arm.sizes import DEFAULT_LIMIT, REGIONAL_LIMIT, SIZES, VmSize, find

REGIONAL = "cores"
_ZONES = ["1", "2", "3"]


def usage(service: Service, subscription: str, location: str) -> dict[str, int]:
    """Return the vCPUs in use, quota family (or `cores`) to number."""
    used: dict[str, int] = {REGIONAL: 0}
    for cluster in service.store.resources(CLUSTERS):
        if cluster["location"] != location or cluster["id"].split("/")[2].lower() != subscription.lower():
            continue
        for pool in service.store.resources(POOLS, cluster["id"]):
            size = find(pool["properties"]["vmSize"])
            if size:
                vcpus = size.vcpus * pool["properties"]["count"]
                used[size.family] = used.get(size.family, 0) + vcpus
                used[REGIONAL] += vcpus
    return used


def limit(service: Service, size: VmSize, used: dict[str, int]) -> int:
    """Return the vCPU limit of a size's family; with the fault `quota` GPU families have nothing left."""
    if size.gpu and service.fault("quota"):
        return used.get(size.family, 0)
    return service.settings.quotas.get(size.family, DEFAULT_LIMIT)


def check_available(service: Service, size: VmSize, location: str, zones: list[str], pool_id: str) -> None:
    """Raise ArmError when the size can't be bought in this place."""
    if size.gpu and service.fault("sku-unavailable"):
        raise ArmError(
            409,
            "SKUNotAvailable",
            f"The requested size for resource '{pool_id}' is currently not available in location '{location}' "
            f"zones '{','.join(zones)}'. Please try another size or deploy to a different location or zones. "
            "See https://aka.ms/azureskunotavailable for details.",
        )


def check_quota(service: Service, size: VmSize, more_nodes: int, subscription: str, location: str) -> None:
    """Raise ArmError when `more_nodes` of this size don't fit into the family's or the region's quota."""
    required = more_nodes * size.vcpus
    if required <= 0:
        return
    used = usage(service, subscription, location)
    remaining = limit(service, size, used) - used.get(size.family, 0)
    if required > remaining:
        raise ArmError(
            400,
            "ErrCode_InsufficientVCPUQuota",
            f"Insufficient vcpu quota requested {required}, remaining {max(remaining, 0)} for family {size.family} for "
            f"region {location}. Surge nodes would also consume vcpu quota, please consider use smaller maxSurge or "
            "use maxUnavailable to proceed upgrade without surge nodes, details: aka.ms/aks/maxUnavailable.",
        )
    regional, in_use = service.settings.quotas.get(REGIONAL, REGIONAL_LIMIT), used[REGIONAL]
    if in_use + required > regional:
        raise ArmError(
            400,
            "QuotaExceeded",
            "Operation could not be completed as it results in exceeding approved Total Regional Cores quota. "
            f"Additional details - Deployment Model: Resource Manager, Location: {location}, Current Limit: "
            f"{regional}, Current Usage: {in_use}, Additional Required: {required}, (Minimum) New Limit Required: "
            f"{in_use + required}.",
        )


def usages(service: Service, request: Request) -> Reply:
    """GET …/Microsoft.Compute/locations/{location}/usages."""
    location = known_location(request.args["location"])
    used = usage(service, request.subscription, location)
    families = {size.family: limit(service, size, used) for size in SIZES.values()}
    regional = service.settings.quotas.get(REGIONAL, REGIONAL_LIMIT)
    rows = [_usage(REGIONAL, "Total Regional vCPUs", used[REGIONAL], regional)]
    rows += [
        _usage(family, f"{family} vCPUs", used.get(family, 0), allowed) for family, allowed in sorted(families.items())
    ]
    return Reply({"value": rows})


def _usage(name: str, text: str, value: int, allowed: int) -> dict[str, Any]:
    return {
        "unit": "Count",
        "currentValue": value,
        "limit": allowed,
        "name": {"value": name, "localizedValue": text},
    }


def skus(service: Service, request: Request) -> Reply:
    """GET …/Microsoft.Compute/skus, with `$filter=location eq 'eastus'`."""
    wanted = request.query.get("$filter", "")
    places = [place for place in LOCATIONS if not wanted or f"'{place}'" in wanted.lower()]
    blocked = service.fault("sku-unavailable")
    return Reply({"value": list(_skus(places, blocked=blocked))})


def _skus(places: list[str], *, blocked: bool) -> Iterator[dict[str, Any]]:
    for place in places:
        for size in SIZES.values():
            yield {
                "resourceType": "virtualMachines",
                "name": size.name,
                "tier": "Standard",
                "size": size.name.removeprefix("Standard_"),
                "family": size.family,
                "locations": [place],
                "locationInfo": [{"location": place, "zones": _ZONES, "zoneDetails": []}],
                "capabilities": [{"name": key, "value": value} for key, value in _capabilities(size).items()],
                "restrictions": [_restriction(place)] if blocked and size.gpu else [],
            }


def _capabilities(size: VmSize) -> dict[str, str]:
    capabilities = {
        "vCPUs": str(size.vcpus),
        "vCPUsAvailable": str(size.vcpus),
        "MemoryGB": str(size.memory_gib),
        "CpuArchitectureType": "Arm64" if size.architecture == "arm64" else "x64",
        "RdmaEnabled": str(size.rdma),
        "PremiumIO": "True",
        "HyperVGenerations": "V1,V2",
    }
    # The grace-based sizes carry no GPUs capability in Azure's own listing.
    if size.gpu and size.architecture != "arm64":
        capabilities["GPUs"] = str(size.gpus)
    return capabilities


def _restriction(place: str) -> dict[str, Any]:
    return {
        "type": "Location",
        "values": [place],
        "restrictionInfo": {"locations": [place], "zones": []},
        "reasonCode": "NotAvailableForSubscription",
    }


def known_location(name: str) -> str:
    """Return `East US` as `eastus`; raises ArmError when the twin has no such region."""
    place = name.replace(" ", "").lower()
    if place not in LOCATIONS:
        raise ArmError(
            400,
            "LocationNotAvailableForResourceType",
            f"The provided location '{name}' is not available for resource type "
            f"'Microsoft.ContainerService/managedClusters'. List of available regions for the resource type is "
            f"'{','.join(LOCATIONS)}'.",
        )
    return place
