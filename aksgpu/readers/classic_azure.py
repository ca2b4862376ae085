"""Reads clusters and node pools of providers that are bridged from Terraform: azure (azurerm) and azapi."""

from collections.abc import Callable, Mapping

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolForm
from aksgpu.facts.truth import UNKNOWN, Unknown
from aksgpu.readers import arm_templates
from aksgpu.readers.aks import cluster_ref, read_cluster
from aksgpu.readers.aks_pools import read_pool
from aksgpu.readers.fields import Fields

_POOLS = "Microsoft.ContainerService/managedClusters/agentPools"
_API_VERSION = "2025-07-01"
"""What azurerm 4 sends; it has none of the managed GPU fields."""
_RENAMED = {
    "priority": "scaleSetPriority",
    "nodeCount": "count",
    "osSku": "osSKU",
    "gpuInstance": "gpuInstanceProfile",
    "autoScalingEnabled": "enableAutoScaling",
}
"""What azurerm calls otherwise than the REST API."""

Reader = Callable[[str, str, object], Estate]
"""Takes a Pulumi type, a URN and properties."""


def reader_for(type_: str) -> Reader | None:
    """Return what reads a type of these providers; None for all that is not about clusters."""
    package, _, rest = type_.casefold().partition(":")
    kind = rest.rsplit(":", 1)[-1]
    if package == "azapi":
        return _read_azapi if kind in ("resource", "updateresource") else None
    return _KINDS.get(kind) if package in ("azure", "azurerm") else None


def _read_pool(type_: str, urn: str, props: object) -> Estate:
    outer = Fields(props)
    owner = outer.text("kubernetesClusterId")
    ref = ClusterRef() if isinstance(owner, Unknown) else cluster_ref(owner or "") or ClusterRef()
    form = PoolForm(kind="classic", token=type_, api_version=_API_VERSION)
    return Estate(pools=(read_pool(Fields(_rest_shape(props)), Place(object=urn), form, ref, outer.text("name")),))


def _read_cluster(type_: str, urn: str, props: object) -> Estate:
    outer = Fields(props)
    shaped = props
    if isinstance(props, Mapping):
        default = _single(props.get("defaultNodePool"))
        shaped = {**props, "agentPoolProfiles": None if default is None else [_default_pool(default)]}
        profile = _single(props.get("nodeProvisioningProfile"))
        if profile is not None:
            shaped["nodeProvisioningProfile"] = profile
    form = PoolForm(kind="inline", token=type_, api_version=_API_VERSION)
    place = Place(object=urn)
    return read_cluster(Fields(shaped), place, form, outer.text("name"), outer.text("resourceGroupName"))


def _default_pool(props: object) -> object:
    shaped = _rest_shape(props)
    return {"mode": "System", **shaped} if isinstance(shaped, Mapping) else shaped


def _rest_shape(props: object) -> object:
    """Return a node pool of azurerm under the names of the REST API."""
    if not isinstance(props, Mapping):
        return props
    shaped = {_RENAMED.get(str(key), str(key)): value for key, value in props.items()}
    shaped["upgradeSettings"] = _single(props.get("upgradeSettings"))
    gpu = props.get("gpuProfile")
    if "gpuDriver" in props:
        shaped["gpuProfile"] = {**(gpu if isinstance(gpu, Mapping) else {}), "driver": props["gpuDriver"]}
    return shaped


def _single(value: object) -> object:
    """Return a block: bridged providers that don't know it occurs once write it as a list."""
    if isinstance(value, list | tuple):
        return value[0] if value else None
    return value


def _read_azapi(type_: str, urn: str, props: object) -> Estate:
    outer = Fields(props)
    kind, body = outer.text("type"), arm_templates.decoded(outer.raw("body"))
    if kind is None:
        return Estate()
    # A type that isn't known yet may turn out to be a pool, which is then undecided.
    name, _, version = kind.partition("@") if isinstance(kind, str) else (_POOLS, "", UNKNOWN)
    inside = body if isinstance(body, Mapping) else {"properties": UNKNOWN if body is not None else None}
    parent, resource_id = outer.text("parentId"), outer.text("resourceId")
    owner = parent if isinstance(parent, str) else resource_id
    ref = (cluster_ref(owner) if isinstance(owner, str) else None) or ClusterRef()
    written = outer.text("name")
    if written is None and isinstance(resource_id, str):
        written = resource_id.rstrip("/").rsplit("/", 1)[-1]
    resource = {**inside, "type": name, "apiVersion": None if version == "" else version, "name": written}
    is_pool = name.casefold().endswith("/agentpools")
    return arm_templates.read_resource(type_, urn, resource, ref if is_pool else ClusterRef(name=None))


def _read_template(type_: str, urn: str, props: object) -> Estate:
    outer = Fields(props)
    deployment = {
        "template": _either(outer, "templateContent", "templateBody"),
        "parameters": _either(outer, "parametersContent", "parametersBody"),
        "resourceGroupName": outer.raw("resourceGroupName"),
    }
    return arm_templates.read_deployment(type_, urn, deployment)


def _either(fields: Fields, new: str, old: str) -> object:
    value = fields.raw(new)
    return fields.raw(old) if value is None else value


_KINDS: dict[str, Reader] = {
    "kubernetescluster": _read_cluster,
    "kubernetesclusternodepool": _read_pool,
    "templatedeployment": _read_template,
    "resourcegrouptemplatedeployment": _read_template,
    "subscriptiontemplatedeployment": _read_template,
    "managementgrouptemplatedeployment": _read_template,
    "tenanttemplatedeployment": _read_template,
}
