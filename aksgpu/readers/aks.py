"""Reads AKS clusters and node pools out of the properties that a program or a state gives them."""

import re
from typing import NamedTuple

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.knowledge import azure_api, node_pools
from aksgpu.knowledge.kubernetes import SUPPORT_PLANS
from aksgpu.readers.aks_pools import read_pool, read_version
from aksgpu.readers.azure_tokens import AzureToken
from aksgpu.readers.fields import Fields

_NAMESPACE = "microsoft.containerservice"
_ID = re.compile(
    r"(?:.*/resourcegroups/(?P<group>[^/]+)/providers/microsoft\.containerservice/)?managedclusters/(?P<cluster>[^/]+)"
    r"(?:/agentpools/(?P<pool>[^/]+))?/?",
    re.IGNORECASE,
)

_GAP = "-"
"""Stands for a name that isn't known yet; no cluster or pool can have it."""


class Address(NamedTuple):
    """Where a resource is in Azure, as far as its properties say."""

    cluster: Maybe[str]
    resource_group: Maybe[str]
    pool: Maybe[str] = None


def cluster_ref(resource_id: str) -> ClusterRef | None:
    """Return the cluster that an ARM id names; None when it names none."""
    match = _ID.fullmatch(resource_id)
    return ClusterRef(name=match["cluster"], resource_group=match["group"]) if match else None


def read_agent_pool(token: AzureToken, type_: str, urn: str, props: object) -> Estate:
    """Read an azure-native AgentPool."""
    fields = Fields(props, fold_case=True)
    found = address_of(fields)
    name = first_known(fields.text("agentPoolName"), found.pool, fields.text("name"))
    cluster = ClusterRef(
        name=first_known(fields.text("resourceName"), found.cluster),
        resource_group=first_known(fields.text("resourceGroupName"), found.resource_group),
    )
    form = PoolForm(kind=token.form, token=type_, api_version=token.api_version)
    return Estate(pools=(read_pool(fields, Place(object=urn), form, cluster, name),))


def read_managed_cluster(token: AzureToken, type_: str, urn: str, props: object) -> Estate:
    """Read an azure-native ManagedCluster and the pools that are written inside it."""
    fields = Fields(props, fold_case=True)
    found = address_of(fields)
    name = first_known(fields.text("resourceName"), found.cluster, fields.text("name"))
    group = first_known(fields.text("resourceGroupName"), found.resource_group)
    form = PoolForm(kind="inline", token=type_, api_version=token.api_version)
    return read_cluster(fields, Place(object=urn), form, name, group)


def read_generic(type_: str, urn: str, props: object) -> Estate:
    """Read `azure-native:resources:Resource` when it is, or may turn out to be, a cluster or a pool."""
    fields = Fields(props, fold_case=True)
    kind = _generic_kind(fields)
    if kind is None:
        return Estate()
    version = fields.text("apiVersion")
    if isinstance(version, str) and azure_api.parse(version) is None:
        version = fields.refuse("apiVersion", version, "an api-version such as 2026-08-02-preview")
    address = _generic_address(fields)
    # A state may hold what Azure answered (properties) under other keys than what was asked; both have `properties`.
    inner = Fields(fields.raw("properties"), fold_case=True, prefix="properties.")
    inner.adopt(fields)
    if kind == "managedclusters":
        form = PoolForm(kind="inline", token=type_, api_version=version)
        return read_cluster(inner, Place(object=urn), form, address.cluster, address.resource_group)
    form = PoolForm(kind="generic", token=type_, api_version=version)
    cluster = ClusterRef(name=address.cluster, resource_group=address.resource_group)
    return Estate(pools=(read_pool(inner, Place(object=urn), form, cluster, address.pool),))


def _generic_kind(fields: Fields) -> str | None:
    """Return the last segment of the resource type; unknown parts count as a pool, which is then undecided."""
    namespace, kind = fields.text("resourceProviderNamespace"), fields.text("resourceType")
    if kind is None:  # outputs have no resourceType; `type` is the full one
        full = fields.text("type")
        namespace, kind = full.rsplit("/", 1) if isinstance(full, str) and "/" in full else (namespace, full)
    if isinstance(namespace, str) and namespace.strip("/").casefold().split("/")[0] != _NAMESPACE:
        return None
    if kind is None or namespace is None:
        return None
    last = kind.strip("/").rsplit("/", 1)[-1].casefold() if isinstance(kind, str) else "agentpools"
    return last if last in ("managedclusters", "agentpools") else None


def _generic_address(fields: Fields) -> Address:
    found = address_of(fields)
    group = first_known(fields.text("resourceGroupName"), found.resource_group)
    parent, kind, name = (fields.text(key) for key in ("parentResourcePath", "resourceType", "resourceName"))
    if isinstance(parent, Unknown):
        return Address(first_known(found.cluster, UNKNOWN), group, first_known(name, found.pool))
    # A name that isn't known yet still leaves the rest of the path readable.
    written = (parent, "agentPools" if isinstance(kind, Unknown) else kind, _GAP if isinstance(name, Unknown) else name)
    match = _ID.fullmatch("/".join(part.strip("/") for part in written if part is not None and part.strip("/")))
    if match is None:
        return Address(found.cluster, group, found.pool)
    return Address(_filled(match["cluster"]), group, _filled(match["pool"]))


def _filled(name: str | None) -> Maybe[str]:
    return UNKNOWN if name == _GAP else name


def address_of(fields: Fields) -> Address:
    """Read the ARM id that outputs have; it is unknown in a preview."""
    resource_id = fields.raw("id")
    if isinstance(resource_id, Unknown):
        return Address(UNKNOWN, UNKNOWN, UNKNOWN)
    match = _ID.fullmatch(resource_id) if isinstance(resource_id, str) else None
    return Address(match["cluster"], match["group"], match["pool"]) if match else Address(None, None)


def first_known(*values: Maybe[str]) -> Maybe[str]:
    """Return the first value that is known, else unknown when one of them is."""
    for value in values:
        if isinstance(value, str):
            return value
    return UNKNOWN if any(isinstance(value, Unknown) for value in values) else None


def read_cluster(fields: Fields, place: Place, form: PoolForm, name: Maybe[str], group: Maybe[str]) -> Estate:
    """Read a cluster from its properties, and the pools that are written inside it."""
    cluster = ClusterFacts(
        place=place,
        name=name,
        resource_group=group,
        kubernetes_version=read_version(fields, "kubernetesVersion"),
        node_provisioning=fields.choice("nodeProvisioningProfile.mode", node_pools.NODE_PROVISIONING_MODES),
        support_plan=fields.choice("supportPlan", SUPPORT_PLANS),
        malformed=(),
    )
    profiles = fields.items("agentPoolProfiles")
    cluster = cluster.model_copy(update={"malformed": fields.problems})
    if profiles is None:
        return Estate(clusters=(cluster,))
    ref = ClusterRef(name=name, resource_group=group, object=place.object)
    if isinstance(profiles, Unknown):
        profiles = [UNKNOWN]
    pools = (_inline(item, index, place, form, ref) for index, item in enumerate(profiles))
    return Estate(clusters=(cluster,), pools=tuple(pools))


def _inline(item: object, index: int, place: Place, form: PoolForm, cluster: ClusterRef) -> PoolFacts:
    fields = Fields(item, fold_case=True, prefix=f"agentPoolProfiles[{index}].")
    return read_pool(fields, place, form, cluster, fields.text("name"))
