"""Reads clusters and node pools out of ARM templates: files, and deployments in Pulumi programs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.readers.aks import read_cluster
from aksgpu.readers.aks_pools import read_pool
from aksgpu.readers.arm_expressions import Scope
from aksgpu.readers.fields import Fields
from aksgpu.readers.reading import Reading

_CLUSTERS = "microsoft.containerservice/managedclusters"
_POOLS = f"{_CLUSTERS}/agentpools"
_DEPLOYMENTS = "microsoft.resources/deployments"
_DEEPEST = 10
"""Templates inside templates, and children inside children."""


@dataclass(frozen=True)
class _Around:
    """What a resource of a template is written in."""

    place: Place
    scope: Scope
    resource_group: Maybe[str]
    token: str = ""
    parent_type: str = ""
    parent_name: Maybe[str] = None
    depth: int = 0


def recognises(data: object) -> bool:
    """Tell whether a document is an ARM template."""
    schema = data.get("$schema") if isinstance(data, Mapping) else None
    return isinstance(schema, str) and "deploymenttemplate.json" in schema.casefold()


def read(data: object, file: str) -> Reading:
    """Return the facts in a template file; parameters without a default are unknown."""
    return Reading(_template(data, None, _Around(Place(object="template", file=file), Scope(), None)))


def read_deployment(type_: str, urn: str, props: object) -> Estate:
    """Read a deployment, or a deployment stack, of a Pulumi program."""
    fields = Fields(props, fold_case=True)
    around = _Around(Place(object=urn), Scope(), fields.text("resourceGroupName"), type_)
    has_properties = fields.raw("properties") is not None
    return _deployed(fields.raw("properties") if has_properties else props, around)


def read_resource(type_: str, urn: str, resource: object, parent: ClusterRef) -> Estate:
    """Read one resource that has the keys of a template: `type`, `apiVersion`, `name` and `properties`."""
    place = Place(object=urn)
    around = _Around(place, Scope(), parent.resource_group, type_, parent_name=parent.name)
    return _resource(resource, around)


def _deployed(properties: object, around: _Around) -> Estate:
    """Read the template of a deployment; a linked one can't be seen, so nothing in it can be judged."""
    fields = Fields(properties, fold_case=True)
    template = decoded(fields.raw("template"))
    if isinstance(template, Mapping):
        return _template(template, decoded(fields.raw("parameters")), around)
    if template is None and fields.raw("templateLink") is None:
        return Estate()
    return Estate(pools=(_unseen(around),))


def decoded(value: object) -> object:
    """Return data that may have been written as JSON text; text that is none is unknown."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return UNKNOWN


def _unseen(around: _Around) -> PoolFacts:
    form = PoolForm(kind="template", token=around.token, api_version=UNKNOWN)
    fields = Fields(UNKNOWN)
    return read_pool(fields, around.place, form, ClusterRef(resource_group=around.resource_group), UNKNOWN)


def _template(template: object, given: object, around: _Around) -> Estate:
    if around.depth > _DEEPEST or not isinstance(template, Mapping):
        return Estate(pools=(_unseen(around),))
    scope = _scope(template, given)
    inner = replace(around, scope=scope, depth=around.depth + 1)
    resources = template.get("resources")
    if isinstance(resources, Unknown):
        return Estate(pools=(_unseen(around),))
    return Estate.merge(_resource(item, _at(inner, path)) for path, item in _members(resources, "resources"))


def _at(around: _Around, path: str) -> _Around:
    return replace(around, place=around.place.at(path)) if around.place.file else around


def _scope(template: Mapping[str, object], given: object) -> Scope:
    declared, variables = template.get("parameters"), template.get("variables")
    known = {}
    for name, item in declared.items() if isinstance(declared, Mapping) else ():
        default = item.get("defaultValue", UNKNOWN) if isinstance(item, Mapping) else UNKNOWN
        known[name] = Scope(known).resolve(default)
    for name, item in given.items() if isinstance(given, Mapping) else ():
        # A reference names a secret of a key vault.
        known[name] = item.get("value", UNKNOWN) if isinstance(item, Mapping) else UNKNOWN
    if isinstance(given, Unknown):
        known = dict.fromkeys(known, UNKNOWN)
    return Scope(known, variables if isinstance(variables, Mapping) else {})


def _members(resources: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield the resources of a list, or of a map as in language version 2.0."""
    if isinstance(resources, Mapping):
        yield from ((f"{path}.{name}", item) for name, item in resources.items())
    elif isinstance(resources, list | tuple):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(resources))


def _resource(resource: object, around: _Around) -> Estate:
    """Read a resource and its children; whether a condition holds is mostly unknown, and then it counts."""
    if not isinstance(resource, Mapping) or around.depth > _DEEPEST:
        return Estate()
    scope = around.scope
    if resource.get("existing") is True or scope.resolve(resource.get("condition", True)) is False:
        return Estate()
    kind, name = _kind(resource, around), scope.resolve(resource.get("name"))
    full_name = _joined(around.parent_name, name)
    children = replace(around, parent_type=kind, parent_name=full_name, depth=around.depth + 1)
    nested = (_resource(item, _at(children, path)) for path, item in _members(resource.get("resources"), "resources"))
    return Estate.merge((_own(kind, full_name, resource, around), *nested))


def _kind(resource: Mapping[str, object], around: _Around) -> str:
    kind = around.scope.resolve(resource.get("type"))
    text = kind.strip("/").casefold() if isinstance(kind, str) else ""
    return f"{around.parent_type}/{text}" if around.parent_type and not text.startswith("microsoft.") else text


def _joined(parent: Maybe[str], name: object) -> Maybe[str]:
    if not isinstance(name, str):
        return UNKNOWN
    if parent is None or "/" in name:
        return name
    return f"{parent}/{name}" if isinstance(parent, str) else UNKNOWN


def _own(kind: str, name: Maybe[str], resource: Mapping[str, object], around: _Around) -> Estate:
    if kind == _DEPLOYMENTS:
        return _nested_deployment(resource, around)
    if kind not in (_CLUSTERS, _POOLS):
        return Estate()
    properties = around.scope.resolve(resource.get("properties"))
    fields = Fields(properties, fold_case=True, prefix="properties.")
    version = Fields({"apiVersion": around.scope.resolve(resource.get("apiVersion"))}).text("apiVersion")
    form = PoolForm(kind="template", token=around.token or "an ARM template", api_version=version)
    if kind == _CLUSTERS:
        return read_cluster(fields, around.place, form, name, around.resource_group)
    cluster, _, pool = name.partition("/") if isinstance(name, str) else (UNKNOWN, "", UNKNOWN)
    ref = ClusterRef(name=cluster, resource_group=around.resource_group)
    return Estate(pools=(read_pool(fields, around.place, form, ref, pool),))


def _nested_deployment(resource: Mapping[str, object], around: _Around) -> Estate:
    fields = Fields(resource.get("properties"), fold_case=True)
    group = around.scope.resolve(resource.get("resourceGroup", around.resource_group))
    inside = replace(
        around,
        resource_group=group if isinstance(group, str) or group is None else UNKNOWN,
        parent_type="",
        parent_name=None,
        depth=around.depth + 1,
    )
    if fields.raw("expressionEvaluationOptions.scope") != "inner":
        # By default the expressions of a nested template mean the parameters of the outer one.
        template = fields.raw("template")
        if isinstance(template, Mapping):
            members = _members(template.get("resources"), "properties.template.resources")
            return Estate.merge(_resource(item, _at(inside, path)) for path, item in members)
    given = around.scope.resolve(fields.raw("parameters"))
    return _deployed(
        {"template": fields.raw("template"), "templateLink": fields.raw("templateLink"), "parameters": given}, inside
    )
