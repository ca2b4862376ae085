"""What clusters and pools can be upgraded to, as clients read it."""

from twin.arm import guards
from twin.arm.azure import Azure
from twin.arm.http import Reply, Request
from twin.arm.machines import newest_image
from twin.arm.service import POOLS
from twin.arm.upgrade_rules import SKEW, long_term
from twin.arm.versions import default_minor, is_preview, minor_of, number, offered, pool_upgrades, upgrades

_CLUSTER_TYPE = "Microsoft.ContainerService/managedClusters"


def of_cluster(azure: Azure, request: Request) -> Reply:
    """GET …/managedClusters/{cluster}/upgradeProfiles/default."""
    cluster, today = guards.cluster(azure.service, request), azure.service.settings.today
    current = cluster["properties"]["currentKubernetesVersion"]
    found = upgrades(current, today, long_term=long_term(cluster["properties"]))
    targets = [{"kubernetesVersion": version, "isPreview": is_preview(version, today)} for version in found]
    profiles = [
        {
            "name": pool["name"],
            "osType": pool["properties"]["osType"],
            "kubernetesVersion": pool["properties"]["currentOrchestratorVersion"],
        }
        for pool in azure.service.store.resources(POOLS, cluster["id"])
    ]
    control_plane = {"name": "master", "kubernetesVersion": current, "osType": "Linux", "upgrades": targets}
    body = {
        "id": f"{cluster['id']}/upgradeprofiles/default",
        "name": "default",
        "type": f"{_CLUSTER_TYPE}/upgradeprofiles",
        "properties": {"controlPlaneProfile": control_plane, "agentPoolProfiles": profiles},
    }
    return Reply(body)


def of_pool(azure: Azure, request: Request) -> Reply:
    """GET …/agentPools/{pool}/upgradeProfiles/default."""
    pool, cluster = guards.pool(azure.service, request), guards.cluster(azure.service, request)
    properties, today = pool["properties"], azure.service.settings.today
    current = properties["currentOrchestratorVersion"]
    control_plane, lts = cluster["properties"]["currentKubernetesVersion"], long_term(cluster["properties"])
    found = pool_upgrades(current, control_plane, today, long_term=lts)
    body = {
        "id": f"{pool['id']}/upgradeProfiles/default",
        "name": "default",
        "type": f"{_CLUSTER_TYPE}/agentPools/upgradeProfiles",
        "properties": {
            "kubernetesVersion": current,
            "osType": properties["osType"],
            "upgrades": [{"kubernetesVersion": v, "isPreview": is_preview(v, today)} for v in found],
            "latestNodeImageVersion": newest_image(properties["osSKU"], current, today),
        },
    }
    return Reply(body)


def available_versions(azure: Azure, request: Request) -> Reply:
    """GET …/availableAgentPoolVersions: what a new pool of this cluster can have."""
    cluster = guards.cluster(azure.service, request)
    today, control_plane = azure.service.settings.today, cluster["properties"]["currentKubernetesVersion"]
    default = default_minor(today).patches[-1]
    versions = [
        patch
        for minor in offered(today, long_term=long_term(cluster["properties"]))
        for patch in minor.patches
        if 0 <= minor_of(control_plane) - minor_of(patch) <= SKEW
    ]
    rows = [
        {"default": v == default, "kubernetesVersion": v, "isPreview": is_preview(v, today)}
        for v in versions
        if not (minor_of(v) == minor_of(control_plane) and number(v) > number(control_plane))
    ]
    id_ = f"{cluster['id']}/availableAgentPoolVersions"
    body = {
        "id": id_,
        "name": "default",
        "type": f"{_CLUSTER_TYPE}/availableAgentPoolVersions",
        "properties": {"agentPoolVersions": rows},
    }
    return Reply(body)
