"""Managed clusters: create, read, update, delete, list."""

import hashlib
import re
import uuid
from collections.abc import Iterator
from typing import Any

from twin.account import TENANT
from twin.arm import features, gpu_rules, guards, pools, schema, upgrade_rules
from twin.arm.api_versions import without_newer_fields
from twin.arm.azure import Azure
from twin.arm.compute import known_location
from twin.arm.errors import ArmError, invalid
from twin.arm.http import Reply, Request
from twin.arm.operations import started
from twin.arm.pool_rules import property_change
from twin.arm.service import CLUSTERS, POOLS, Document
from twin.arm.versions import default_minor

_TYPE = "Microsoft.ContainerService/managedClusters"
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")
_IMMUTABLE = (
    "dnsPrefix",
    "fqdnSubdomain",
    "nodeResourceGroup",
    "diskEncryptionSetID",
    "linuxProfile",
    "windowsProfile",
    "networkProfile.networkPlugin",
    "networkProfile.networkMode",
    "networkProfile.podCidr",
    "networkProfile.serviceCidr",
    "networkProfile.dnsServiceIP",
)


def view(azure: Azure, cluster: Document, api_version: str) -> dict[str, Any]:
    """Return a cluster as a client of this api-version sees it."""
    profiles = [
        {"name": pool["name"], **without_newer_fields(pool["properties"], api_version)}
        for pool in azure.service.store.resources(POOLS, cluster["id"])
    ]
    shown = {key: value for key, value in cluster.items() if key != "twin"}
    return shown | {"properties": cluster["properties"] | {"agentPoolProfiles": profiles}}


def get(azure: Azure, request: Request) -> Reply:
    """GET …/managedClusters/{cluster}."""
    return Reply(view(azure, guards.cluster(azure.service, request), request.api_version))


def list_(azure: Azure, request: Request) -> Reply:
    """GET …/managedClusters, of a resource group or of the subscription."""
    if "group" in request.args:
        guards.group(azure.service, request)
        found = azure.service.store.resources(CLUSTERS, request.group_id)
    else:
        prefix = f"/subscriptions/{request.subscription}/".lower()
        found = [c for c in azure.service.store.resources(CLUSTERS) if c["id"].lower().startswith(prefix)]
    return Reply({"value": [view(azure, cluster, request.api_version) for cluster in found]})


def put(azure: Azure, request: Request) -> Reply:
    """PUT …/managedClusters/{cluster}."""
    body = schema.read(schema.MANAGED_CLUSTER, request.object(), request.api_version)
    with azure.service.store.transaction():
        guards.group(azure.service, request)
        old = azure.service.store.get(request.cluster_id)
        guards.preconditions(request, old)
        guards.nothing_in_progress(azure.operations.running_on(request.cluster_id), request.cluster_id)
        azure.throttle.take(request.cluster_id.lower(), azure.service.settings)
        cluster, profiles, state = _changed(azure, old, body) if old else _new(azure, request, body)
        cluster["properties"]["provisioningState"] = state
        cluster["eTag"] = cluster["properties"]["eTag"] = str(uuid.uuid4())
        azure.service.store.put(CLUSTERS, cluster, request.group_id)
        for pool in profiles:
            azure.service.store.put(POOLS, pool, cluster["id"])
        affected = [pool["id"] for pool in profiles]
        operation = azure.operations.accept("put-cluster", state, cluster["id"], cluster["location"], affected)
        answer = view(azure, cluster, request.api_version)
    azure.operations.begin(operation)
    return started(request, azure.service, operation, answer, 200 if old else 201)


def _new(azure: Azure, request: Request, body: dict[str, Any]) -> tuple[Document, list[Document], str]:
    service, name = azure.service, request.args["cluster"]
    features.check_registered(service, request.subscription, "Microsoft.ContainerService")
    wanted = guards.without_read_only(body.get("properties", {}))
    _check_new(name, body, wanted)
    location = known_location(body["location"])
    default = default_minor(service.settings.today).name
    version = upgrade_rules.new_cluster_version(
        service, name, wanted.get("kubernetesVersion", default), lts=upgrade_rules.long_term(wanted)
    )
    profiles = wanted.pop("agentPoolProfiles")
    suffix = str(int(hashlib.sha256(request.cluster_id.lower().encode()).hexdigest(), 16))[:8]
    cluster: Document = {
        "id": request.cluster_id,
        "name": name,
        "type": _TYPE,
        "location": location,
        "sku": {"name": "Base", "tier": "Free"} | body.get("sku", {}),
        "properties": _with_defaults(request, wanted, location, version),
        "twin": {"kind": CLUSTERS, "parent": request.group_id, "suffix": suffix},
    }
    cluster |= {key: body[key] for key in ("tags", "kind", "extendedLocation") if key in body}
    if "identity" in body:
        cluster["identity"] = _identity(body["identity"], request.cluster_id)
    made = list(_new_pools(azure, cluster, profiles))
    pools.require_system_pool(made)
    return cluster, made, "Creating"


def _check_new(name: str, body: dict[str, Any], wanted: dict[str, Any]) -> None:
    if not _NAME.fullmatch(name):
        raise invalid(
            "The value of parameter resourceName is invalid. Error details: it must be 1 to 63 letters, digits, "
            "underscores and hyphens, starting and ending with a letter or digit.",
            "resourceName",
        )
    if "location" not in body:
        raise ArmError(400, "LocationRequired", "The location property is required for this definition.")
    if "identity" not in body and "servicePrincipalProfile" not in wanted:
        raise invalid("Required parameter servicePrincipalProfile is missing (null).", "servicePrincipalProfile")
    if not wanted.get("agentPoolProfiles"):
        raise invalid("Required parameter agentPoolProfiles is missing (null).", "agentPoolProfiles")


def _new_pools(azure: Azure, cluster: Document, profiles: list[dict[str, Any]]) -> Iterator[Document]:
    names = set()
    for profile in profiles:
        wanted = guards.without_read_only(profile)
        name = wanted.pop("name", "")
        if name in names:
            raise invalid(f"The agent pool name {name} is used twice.", "agentPoolProfiles.name")
        names.add(name)
        pool = pools.build(azure, cluster, name, wanted)
        pool["properties"] |= {"provisioningState": "Creating", "eTag": str(uuid.uuid4())}
        yield pool


def _with_defaults(request: Request, wanted: dict[str, Any], location: str, version: str) -> dict[str, Any]:
    group, name = request.args["group"], request.args["cluster"]
    prefix = wanted.get("dnsPrefix") or wanted.get("fqdnSubdomain") or f"{name}-{group}"[:54]
    unique = uuid.uuid5(uuid.NAMESPACE_URL, request.cluster_id.lower()).hex[:8]
    return {
        "dnsPrefix": prefix,
        "enableRBAC": True,
        "disableLocalAccounts": False,
        "supportPlan": "KubernetesOfficial",
        "nodeResourceGroup": f"MC_{group}_{name}_{location}"[:80],
        **wanted,
        "kubernetesVersion": wanted.get("kubernetesVersion", version),
        "currentKubernetesVersion": version,
        "fqdn": f"{prefix}-{unique}.hcp.{location}.azmk8s.io",
        "azurePortalFQDN": f"{prefix}-{unique}.portal.hcp.{location}.azmk8s.io",
        "maxAgentPools": 100,
        "powerState": {"code": "Running"},
        "networkProfile": {
            "networkPlugin": "azure",
            "networkDataplane": "azure",
            "loadBalancerSku": "standard",
            "serviceCidr": "10.0.0.0/16",
            "dnsServiceIP": "10.0.0.10",
            "outboundType": "loadBalancer",
            **wanted.get("networkProfile", {}),
        },
    }


def _identity(wanted: dict[str, Any], id_: str) -> dict[str, Any]:
    if wanted.get("type") != "SystemAssigned":
        return wanted
    principal = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{id_.lower()}/identity"))
    return wanted | {"principalId": principal, "tenantId": TENANT}


def _changed(azure: Azure, old: Document, body: dict[str, Any]) -> tuple[Document, list[Document], str]:
    before = old["properties"]
    wanted = guards.without_read_only(body.get("properties", {}))
    profiles = wanted.pop("agentPoolProfiles", [])
    if "location" in body and known_location(body["location"]) != old["location"]:
        raise property_change("location")
    after = schema.merge(schema.CLUSTER_PROPERTIES, before, wanted)
    _check_immutable(before, after)
    version = before["currentKubernetesVersion"]
    if wanted.get("kubernetesVersion", before["kubernetesVersion"]) != before["kubernetesVersion"]:
        version = upgrade_rules.changed_cluster_version(azure.service, old, wanted["kubernetesVersion"])
    after["currentKubernetesVersion"] = version
    changes = {key: body[key] for key in ("tags", "sku", "kind") if key in body}
    if "identity" in body:
        changes["identity"] = _identity(body["identity"], old["id"])
    cluster = old | changes | {"properties": after}
    changed = _changed_pools(azure, old, cluster, profiles)
    _check_pools_can_stay(azure, cluster, changed)
    upgraded = version != before["currentKubernetesVersion"]
    return cluster, changed, "Upgrading" if upgraded else "Updating"


def _check_immutable(before: dict[str, Any], after: dict[str, Any]) -> None:
    for path in _IMMUTABLE:
        top, _, below = path.partition(".")
        old, new = before.get(top), after.get(top)
        if below:
            old, new = (old or {}).get(below), (new or {}).get(below)
        if old != new:
            raise property_change(f"properties.{path}")


def _changed_pools(azure: Azure, old: Document, cluster: Document, profiles: list[dict[str, Any]]) -> list[Document]:
    """Return the pools that the profiles of a PUT change; when there is one, all pools are at work."""
    stored = {pool["name"]: pool for pool in azure.service.store.resources(POOLS, cluster["id"])}
    for profile in profiles:
        if profile.get("name") not in stored:
            raise ArmError(
                400,
                "BadRequest",
                "A new agent pool was introduced. Adding agent pools to an existing cluster is not allowed through "
                "managed cluster operations. For agent pool specific change, please use per agent pool operations: "
                "https://aka.ms/agent-pool-rest-api",
                target="agentPoolProfiles",
            )
    skipping = upgrade_rules.check_profiles(azure.service, old, cluster, stored, profiles)
    changed: dict[str, Document] = {}
    for profile in profiles:
        wanted = {key: value for key, value in guards.without_read_only(profile).items() if key != "name"}
        before = stored[profile["name"]]
        pool, state = pools.change(azure, cluster, before, wanted, skipping=skipping)
        if pool["properties"] != before["properties"]:
            pool["properties"]["provisioningState"] = state
            changed[pool["name"]] = pool
    if not changed:
        return []
    for name, pool in stored.items():
        if name not in changed:
            pool["properties"]["provisioningState"] = "Scaling"
            changed[name] = pool
    return list(changed.values())


def _check_pools_can_stay(azure: Azure, cluster: Document, changed: list[Document]) -> None:
    """Raise ArmError when a pool doesn't fit to the changed cluster: its version, or node auto provisioning."""
    after = {pool["name"]: pool for pool in [*azure.service.store.resources(POOLS, cluster["id"]), *changed]}
    for pool in after.values():
        version = cluster["properties"]["currentKubernetesVersion"]
        upgrade_rules.check_skew(pool["properties"]["currentOrchestratorVersion"], version)
        gpu_rules.check_node_provisioning(cluster["properties"], pool["properties"])


def patch_tags(azure: Azure, request: Request) -> Reply:
    """PATCH …/managedClusters/{cluster}: tags only."""
    body = schema.read(schema.TAGS, request.object(), request.api_version)
    with azure.service.store.transaction():
        cluster = guards.cluster(azure.service, request)
        guards.nothing_in_progress(azure.operations.running_on(cluster["id"]), cluster["id"])
        cluster["tags"] = body.get("tags", {})
        cluster["properties"]["provisioningState"] = "Updating"
        azure.service.store.put(CLUSTERS, cluster, request.group_id)
        operation = azure.operations.accept("put-cluster", "Updating", cluster["id"], cluster["location"])
    azure.operations.begin(operation)
    return started(request, azure.service, operation, view(azure, cluster, request.api_version), 200)


def delete(azure: Azure, request: Request) -> Reply:
    """DELETE …/managedClusters/{cluster}: 204 when there is none; operations on it end as Canceled."""
    guards.group(azure.service, request)
    if azure.service.store.get(request.cluster_id) is None:
        return Reply(status=204)
    guards.preconditions(request, azure.service.store.get(request.cluster_id))
    running = azure.operations.running_on(request.cluster_id)
    deleting = [operation for operation in running if operation["kind"] == "delete-cluster"]
    if deleting:
        return started(request, azure.service, deleting[0], None, 202)
    azure.operations.abort(running)
    with azure.service.store.transaction():
        cluster = guards.cluster(azure.service, request)
        cluster["properties"]["provisioningState"] = "Deleting"
        azure.service.store.put(CLUSTERS, cluster, request.group_id)
        operation = azure.operations.accept("delete-cluster", "Deleting", cluster["id"], cluster["location"])
    azure.operations.begin(operation)
    return started(request, azure.service, operation, None, 202)


def abort(azure: Azure, request: Request) -> Reply:
    """POST …/managedClusters/{cluster}/abort: ends the latest operation as Canceled."""
    cluster = guards.cluster(azure.service, request)
    running = azure.operations.running_on(cluster["id"])
    azure.operations.abort([operation for operation in running if operation["target"] == cluster["id"].lower()])
    return Reply(status=204)
