"""Agent pools: create, read, update, delete, list."""

import uuid
from typing import Any

from twin.arm import compute, features, gpu_rules, guards, pool_rules, schema, upgrade_rules
from twin.arm.api_versions import without_newer_fields
from twin.arm.azure import Azure
from twin.arm.errors import ArmError, invalid
from twin.arm.http import Reply, Request
from twin.arm.machines import newest_image
from twin.arm.operations import Operation, started
from twin.arm.pool_work import surge_nodes
from twin.arm.service import POOLS, Document
from twin.arm.sizes import VmSize, find

_TYPE = "Microsoft.ContainerService/managedClusters/agentPools"
_DEFAULT_SIZE = "Standard_D2s_v5"


def view(pool: Document, api_version: str) -> dict[str, Any]:
    """Return a pool as a client of this api-version sees it."""
    shown = {key: pool[key] for key in ("id", "name", "type")}
    return shown | {"properties": without_newer_fields(pool["properties"], api_version)}


def get(azure: Azure, request: Request) -> Reply:
    """GET …/agentPools/{pool}."""
    return Reply(view(guards.pool(azure.service, request), request.api_version))


def list_(azure: Azure, request: Request) -> Reply:
    """GET …/agentPools."""
    cluster = guards.cluster(azure.service, request)
    found = azure.service.store.resources(POOLS, cluster["id"])
    return Reply({"value": [view(pool, request.api_version) for pool in found]})


def put(azure: Azure, request: Request) -> Reply:
    """PUT …/agentPools/{pool}."""
    # Resource Manager takes a location for any resource; azure-native's generic resource always sends one.
    content = {key: value for key, value in request.object().items() if key.lower() != "location"}
    body = schema.read(schema.AGENT_POOL, content, request.api_version)
    wanted = guards.without_read_only(body.get("properties", {}))
    with azure.service.store.transaction():
        cluster = _parent(azure, request)
        old = azure.service.store.get(request.pool_id)
        guards.preconditions(request, old)
        busy = azure.operations.running_on(cluster["id"])
        guards.nothing_in_progress(busy, cluster["id"], request.pool_id)
        azure.throttle.take(f"{cluster['id'].lower()}/agentpools", azure.service.settings)
        pool, state = change(azure, cluster, old, wanted) if old else _new(azure, cluster, request, wanted)
        operation = _accept(azure, cluster, pool, state)
    azure.operations.begin(operation)
    return started(request, azure.service, operation, view(pool, request.api_version), 200 if old else 201)


def _parent(azure: Azure, request: Request) -> Document:
    try:
        return guards.cluster(azure.service, request)
    except ArmError as error:
        if error.code != "ResourceNotFound":
            raise
        raise ArmError(
            404,
            "ParentResourceNotFound",
            "Failed to perform 'write' on resource(s) of type 'managedClusters/agentPools', because the parent "
            f"resource '{request.cluster_id}' could not be found.",
        ) from error


def _accept(azure: Azure, cluster: Document, pool: Document, state: str) -> Operation:
    pool["properties"] |= {"provisioningState": state, "eTag": str(uuid.uuid4())}
    azure.service.store.put(POOLS, pool, cluster["id"])
    return azure.operations.accept("put-pool", state, pool["id"], cluster["location"])


def _new(azure: Azure, cluster: Document, request: Request, wanted: dict[str, Any]) -> tuple[Document, str]:
    features.check_registered(azure.service, request.subscription, "Microsoft.ContainerService")
    return build(azure, cluster, request.args["pool"], {"mode": "User"} | wanted), "Creating"


def build(azure: Azure, cluster: Document, name: str, wanted: dict[str, Any]) -> Document:
    """Return a new pool with everything that Azure fills in; raises ArmError when it can't be."""
    pool_rules.check_name(name)
    properties = _with_defaults(azure, cluster, wanted)
    size = _check(azure, cluster, properties)
    id_ = f"{cluster['id']}/agentPools/{name}"
    zones = properties.get("availabilityZones", [])
    compute.check_available(azure.service, size, cluster["location"], zones, id_)
    subscription = cluster["id"].split("/")[2]
    compute.check_quota(azure.service, size, properties["count"], subscription, cluster["location"])
    if azure.service.fault("wrong-driver-mode") and gpu_rules.is_dra(properties):
        properties["gpuProfile"]["nvidia"]["driverMode"] = "DevicePlugin"
    return {
        "id": id_,
        "name": name,
        "type": _TYPE,
        "properties": properties,
        "twin": {"kind": POOLS, "parent": cluster["id"], "machines": []},
    }


def _with_defaults(azure: Azure, cluster: Document, wanted: dict[str, Any]) -> dict[str, Any]:
    service = azure.service
    version = upgrade_rules.new_pool_version(service, cluster, wanted.get("orchestratorVersion"))
    properties: dict[str, Any] = {
        "vmSize": _DEFAULT_SIZE,
        "osDiskSizeGB": 128,
        "osDiskType": "Managed",
        "kubeletDiskType": "OS",
        "maxPods": 110,
        "type": "VirtualMachineScaleSets",
        "enableAutoScaling": False,
        "scaleDownMode": "Delete",
        "powerState": {"code": "Running"},
        "orchestratorVersion": cluster["properties"]["kubernetesVersion"],
        "enableNodePublicIP": False,
        "mode": "User",
        "enableEncryptionAtHost": False,
        "enableUltraSSD": False,
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "enableFIPS": False,
        "upgradeStrategy": "Rolling",
        **wanted,
        "currentOrchestratorVersion": version,
        "upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0", **wanted.get("upgradeSettings", {})},
    }
    properties["nodeImageVersion"] = newest_image(properties["osSKU"], version, service.settings.today)
    _fill_gpu_profile(properties)
    return properties


def _fill_gpu_profile(properties: dict[str, Any]) -> None:
    """Fill in what AKS says about GPU pools that don't say it themselves."""
    size = find(properties["vmSize"])
    if size is None or size.gpu is None:
        return
    profile = {"driver": "Install", **properties.get("gpuProfile", {})}
    nvidia = profile.get("nvidia", {})
    if nvidia.get("managementMode") == "Managed":
        # A managed pool has AKS's driver whatever was asked for, and the device plugin unless DRA was.
        profile["driver"] = "Install"
        profile["nvidia"] = {"driverMode": "DevicePlugin", "migStrategy": "None", **nvidia}
    properties["gpuProfile"] = profile


def _check(azure: Azure, cluster: Document, properties: dict[str, Any]) -> VmSize:
    size = pool_rules.size_of(properties, cluster["location"])
    gpu_rules.check(azure.service, cluster, properties, size)
    pool_rules.check_simulated(properties)
    pool_rules.check_values(properties)
    gpu_rules.check_node_provisioning(cluster["properties"], properties)
    return size


def change(
    azure: Azure, cluster: Document, old: Document, wanted: dict[str, Any], *, skipping: bool = False
) -> tuple[Document, str]:
    """Return a pool with the changes, and the state it is in meanwhile; raises ArmError when refused.

    `skipping`: the whole cluster skips minors.
    """
    service, before = azure.service, old["properties"]
    after = schema.merge(schema.POOL_PROPERTIES, before, wanted)
    if gpu_rules.is_managed(before):
        after["gpuProfile"]["driver"] = before["gpuProfile"]["driver"]
    pool_rules.check_immutable(before, after)
    current = before["currentOrchestratorVersion"]
    version = current
    if "orchestratorVersion" in wanted and wanted["orchestratorVersion"] != before["orchestratorVersion"]:
        version = upgrade_rules.changed_pool_version(
            service, cluster, current, wanted["orchestratorVersion"], skipping=skipping
        )
    after["currentOrchestratorVersion"] = version
    if version != current or after["osSKU"] != before["osSKU"]:
        after["nodeImageVersion"] = newest_image(after["osSKU"], version, service.settings.today)
    size = _check(azure, cluster, after)
    _keep_a_system_pool(azure, cluster, old, after)
    state = _state(before, after)
    # Surge nodes take quota, too, for as long as the upgrade lasts.
    more = after["count"] - before["count"] + (surge_nodes(after) if state == "Upgrading" else 0)
    compute.check_quota(service, size, more, cluster["id"].split("/")[2], cluster["location"])
    return old | {"properties": after}, state


def _state(before: dict[str, Any], after: dict[str, Any]) -> str:
    if after["nodeImageVersion"] != before["nodeImageVersion"]:
        return "Upgrading"
    if after["currentOrchestratorVersion"] != before["currentOrchestratorVersion"]:
        return "Upgrading"
    return "Scaling" if after["count"] != before["count"] else "Updating"


def _keep_a_system_pool(azure: Azure, cluster: Document, pool: Document, after: dict[str, Any] | None) -> None:
    """Raise ArmError when this change (None: deletion) would leave the cluster without a system pool."""
    if after is not None and after["mode"] == "System":
        return
    others = [other for other in azure.service.store.resources(POOLS, cluster["id"]) if other["id"] != pool["id"]]
    was_system = pool["properties"]["mode"] == "System"
    if was_system and not any(other["properties"]["mode"] == "System" for other in others):
        raise ArmError(
            400,
            "OperationNotAllowed",
            "There has to be at least one system agent pool.",
        )


def delete(azure: Azure, request: Request) -> Reply:
    """DELETE …/agentPools/{pool}: 204 when there is none."""
    with azure.service.store.transaction():
        cluster = guards.cluster(azure.service, request)
        pool = azure.service.store.get(request.pool_id)
        if pool is None:
            return Reply(status=204)
        guards.preconditions(request, pool)
        guards.nothing_in_progress(azure.operations.running_on(cluster["id"]), cluster["id"], request.pool_id)
        _keep_a_system_pool(azure, cluster, pool, None)
        pool["properties"]["provisioningState"] = "Deleting"
        azure.service.store.put(POOLS, pool, cluster["id"])
        operation = azure.operations.accept("delete-pool", "Deleting", pool["id"], cluster["location"])
    azure.operations.begin(operation)
    return started(request, azure.service, operation, None, 202)


def upgrade_node_image(azure: Azure, request: Request) -> Reply:
    """POST …/agentPools/{pool}/upgradeNodeImageVersion."""
    with azure.service.store.transaction():
        pool = guards.pool(azure.service, request)
        cluster = guards.cluster(azure.service, request)
        guards.nothing_in_progress(azure.operations.running_on(cluster["id"]), cluster["id"], request.pool_id)
        properties = pool["properties"]
        today = azure.service.settings.today
        properties["nodeImageVersion"] = newest_image(
            properties["osSKU"], properties["currentOrchestratorVersion"], today
        )
        operation = _accept(azure, cluster, pool, "UpgradingNodeImageVersion")
    azure.operations.begin(operation)
    return started(request, azure.service, operation, view(pool, request.api_version), 202)


def abort(azure: Azure, request: Request) -> Reply:
    """POST …/agentPools/{pool}/abort: ends the latest operation as Canceled."""
    pool = guards.pool(azure.service, request)
    azure.operations.abort(azure.operations.running_on(pool["id"]))
    return Reply(status=204)


def require_system_pool(profiles: list[Document]) -> None:
    """Raise ArmError when a new cluster has no system pool."""
    if not any(pool["properties"]["mode"] == "System" for pool in profiles):
        raise invalid("Must define at least one system pool.", "agentPoolProfiles")
