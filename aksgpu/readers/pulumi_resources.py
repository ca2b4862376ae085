"""Reads facts out of Pulumi resources of every form that matters for GPUs; anything else is nobody's business.

Properties are plain data (see `aksgpu.readers.plain`). Nothing here raises: what can't be read is a `Malformed` of its
fact, what isn't known yet is `UNKNOWN`.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers import aks, arm_templates, classic_azure, kube_objects, yaml_groups
from aksgpu.readers.azure_tokens import parse_token
from aksgpu.readers.fields import Fields
from aksgpu.readers.gpu_charts import read_release
from aksgpu.readers.object_lists import expanded


class PulumiResource(NamedTuple):
    """One resource, as a policy or a state sees it."""

    type: str
    urn: str
    props: object
    """Its inputs or its outputs, plain."""
    parent: str | None = None
    """URN of its parent."""
    cluster: ClusterRef = ANY_CLUSTER
    """For Kubernetes objects: the cluster of their provider, when it says so."""


Reader = Callable[[PulumiResource], Estate]


def read(resource: PulumiResource) -> Estate:
    """Return the facts in one resource; an empty estate when there are none."""
    reader = reader_for(resource.type)
    return reader(resource) if reader is not None else Estate()


@lru_cache(maxsize=4096)
def reader_for(type_: str) -> Reader | None:
    """Return what reads resources of a type; None for types that never hold facts. Cheap, for use before reading."""
    if type_.casefold().startswith("azure-native"):
        return _azure_reader(type_)
    if type_.startswith("kubernetes:"):
        return _kubernetes_reader(type_)
    classic = classic_azure.reader_for(type_)
    return (lambda resource: classic(type_, resource.urn, resource.props)) if classic is not None else None


def _azure_reader(type_: str) -> Reader | None:
    token = parse_token(type_)
    if token is None:
        return None
    match (token.module, token.kind):
        case ("containerservice", "agentpool"):
            return lambda resource: aks.read_agent_pool(token, type_, resource.urn, resource.props)
        case ("containerservice", "managedcluster"):
            return lambda resource: aks.read_managed_cluster(token, type_, resource.urn, resource.props)
        case ("resources", "resource"):
            return lambda resource: _generic(type_, resource)
        case ("resources", kind) if kind.startswith(("deploymentat", "deploymentstackat")) or kind == "deployment":
            return lambda resource: arm_templates.read_deployment(type_, resource.urn, resource.props)
    return None


def _generic(type_: str, resource: PulumiResource) -> Estate:
    """Read a generic resource: a cluster, a pool, or a deployment of a template that may hold them."""
    fields = Fields(resource.props, fold_case=True)
    named = (fields.text("resourceProviderNamespace"), fields.text("resourceType"))
    path = "/".join(part.strip("/").casefold() for part in named if isinstance(part, str))
    if path == "microsoft.resources/deployments":
        return arm_templates.read_deployment(type_, resource.urn, resource.props)
    return aks.read_generic(type_, resource.urn, resource.props)


def _kubernetes_reader(type_: str) -> Reader | None:
    _, module, kind = (*type_.split(":"), "", "")[:3]
    if module in ("yaml", "yaml/v2") and kind in yaml_groups.KINDS:
        return _group
    kind = kind.removesuffix("Patch")
    if module.startswith("helm.sh/") and kind in ("Release", "Chart"):
        return partial(_chart, kind)
    api_version = module.removeprefix("core/")
    if kind.endswith("List") and (kind == "List" or kube_objects.reads(api_version, kind.removesuffix("List"))):
        return partial(_list, api_version, kind)
    return partial(_object, api_version, kind) if kube_objects.reads(api_version, kind) else None


def _group(resource: PulumiResource) -> Estate:
    return yaml_groups.read_group(
        resource.props,
        lambda api_version, kind, data: _object(api_version, kind, resource._replace(props=data)),
    )


def _list(api_version: str, kind: str, resource: PulumiResource) -> Estate:
    """Read a list of objects that is registered as one resource; it need not say again what its type says."""
    written = resource.props if isinstance(resource.props, dict) else {}
    return Estate.merge(
        _object(item.api_version, item.kind, resource._replace(props=item.data))
        for item in expanded({"apiVersion": api_version, "kind": kind, "items": written.get("items")})
    )


def _object(api_version: str, kind: str, resource: PulumiResource) -> Estate:
    place = Place(object=resource.urn)
    return kube_objects.read_object(api_version, kind, resource.props, place, resource.cluster, resource.parent)


def _chart(kind: str, resource: PulumiResource) -> Estate:
    return read_release(kind, resource.urn, resource.props, resource.cluster, resource.parent)


def provider_cluster(identifier: object) -> ClusterRef:
    """Return the cluster that a Kubernetes provider's `clusterIdentifier` means, when it is the ARM id of one."""
    if identifier is UNKNOWN or not isinstance(identifier, str):
        return ANY_CLUSTER
    return aks.cluster_ref(identifier) or ANY_CLUSTER
