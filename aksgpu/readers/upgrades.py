"""Reads what Azure reports about the versions of a cluster and where they can go."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aksgpu.facts.upgrades import Available, ClusterVersions, Offered, PoolVersion, UpgradeSettings
from aksgpu.readers.azure_session import containers, explained

if TYPE_CHECKING:
    from azure.mgmt.containerservice import ContainerServiceClient

_DEFAULTS = UpgradeSettings()


def read(subscription: str, resource_group: str, name: str) -> ClusterVersions | None:
    """Return a cluster's versions; None when there is no such cluster.

    Raises AzureError when Azure can't be asked.
    """
    client = containers(subscription)
    with explained(f"read the upgrades of the cluster {resource_group}/{name}"):
        cluster = client.managed_clusters.get(resource_group, name).as_dict()
        profile = client.managed_clusters.get_upgrade_profile(resource_group, name).as_dict()
        offered = client.managed_clusters.list_kubernetes_versions(cluster["location"]).as_dict()
        pools = client.agent_pools.list(resource_group, name)
        return _cluster(
            (subscription, resource_group),
            cluster,
            profile["properties"]["controlPlaneProfile"],
            tuple(_pool(client, resource_group, name, pool.as_dict()) for pool in pools),
            tuple(entry for row in offered.get("values") or () for entry in _offered(row)),
        )
    return None


def _cluster(
    place: tuple[str, str],
    found: Mapping[str, Any],
    profile: Mapping[str, Any],
    pools: tuple[PoolVersion, ...],
    offered: tuple[Offered, ...],
) -> ClusterVersions:
    properties = found["properties"]
    channel = (properties.get("autoUpgradeProfile") or {}).get("upgradeChannel")
    return ClusterVersions(
        subscription=place[0],
        resource_group=place[1],
        name=found["name"],
        location=found["location"],
        version=profile["kubernetesVersion"],
        support_plan=properties.get("supportPlan") or "KubernetesOfficial",
        channel=channel or "none",
        provisioning_state=properties.get("provisioningState") or "Succeeded",
        upgrades=_available(profile),
        pools=pools,
        offered=offered,
    )


def _pool(client: "ContainerServiceClient", resource_group: str, cluster: str, found: Mapping[str, Any]) -> PoolVersion:
    name, properties = found["name"], found["properties"]
    profile = client.agent_pools.get_upgrade_profile(resource_group, cluster, name).as_dict()["properties"]
    return PoolVersion(
        name=name,
        version=profile["kubernetesVersion"],
        count=properties.get("count") or 0,
        mode=properties.get("mode") or "User",
        vm_size=properties.get("vmSize") or "",
        provisioning_state=properties.get("provisioningState") or "Succeeded",
        settings=_settings(properties.get("upgradeSettings") or {}),
        upgrades=_available(profile),
    )


def _settings(found: Mapping[str, Any]) -> UpgradeSettings:
    return UpgradeSettings(
        max_surge=found.get("maxSurge") or _DEFAULTS.max_surge,
        max_unavailable=found.get("maxUnavailable") or _DEFAULTS.max_unavailable,
        drain_timeout=found.get("drainTimeoutInMinutes") or _DEFAULTS.drain_timeout,
        soak=found.get("nodeSoakDurationInMinutes") or _DEFAULTS.soak,
    )


def _available(profile: Mapping[str, Any]) -> tuple[Available, ...]:
    return tuple(
        Available(version=entry["kubernetesVersion"], preview=bool(entry.get("isPreview")))
        for entry in profile.get("upgrades") or ()
    )


def _offered(row: Mapping[str, Any]) -> list[Offered]:
    plans = (row.get("capabilities") or {}).get("supportPlan") or ()
    return [
        Offered(
            version=patch,
            preview=bool(row.get("isPreview")),
            support_plans=tuple(plans),
            upgrades=tuple((found or {}).get("upgrades") or ()),
        )
        for patch, found in (row.get("patchVersions") or {}).items()
    ]
