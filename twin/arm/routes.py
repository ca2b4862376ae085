"""Every path of the Azure endpoint that the twin serves."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from twin.arm import (
    cluster_credentials,
    clusters,
    compute,
    control,
    features,
    groups,
    locations,
    operations,
    pools,
    upgrade_profiles,
)
from twin.arm.azure import Azure
from twin.arm.errors import ArmError
from twin.arm.http import Reply, Request
from twin.arm.service import Service

Handler = Callable[[Azure, Request], Reply]


@dataclass(frozen=True)
class Route:
    """One method and path template, e.g. `/subscriptions/{subscription}`."""

    method: str
    pattern: re.Pattern[str]
    namespace: str
    kind: str
    """The resource type, for messages."""
    handler: Handler


def _on_service(handler: Callable[[Service, Request], Reply]) -> Handler:
    return lambda azure, request: handler(azure.service, request)


def _route(method: str, template: str, handler: Handler, namespace: str, kind: str) -> Route:
    parts = re.split(r"\{(\w+)\}", template)
    text = "".join(f"(?P<{part}>[^/]+)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return Route(method, re.compile(text, re.IGNORECASE), namespace, kind, handler)


_SUB = "/subscriptions/{subscription}"
_GROUP = f"{_SUB}/resourceGroups/{{group}}"
_AKS = "Microsoft.ContainerService"
_CLUSTERS = f"{_GROUP}/providers/{_AKS}/managedClusters"
_CLUSTER = f"{_CLUSTERS}/{{cluster}}"
_POOLS = f"{_CLUSTER}/agentPools"
_POOL = f"{_POOLS}/{{pool}}"
_PLACE = f"{_SUB}/providers/{_AKS}/locations/{{location}}"
_FEATURES = f"{_SUB}/providers/Microsoft.Features"
_FEATURE = f"{_FEATURES}/providers/{{namespace}}/features"
_REGISTRATION = f"{_FEATURES}/featureProviders/{{namespace}}/subscriptionFeatureRegistrations"
_COMPUTE = f"{_SUB}/providers/Microsoft.Compute"

_Row = tuple[str, str, Handler]

_RESOURCES: tuple[_Row, ...] = (
    ("GET", "/subscriptions", groups.list_subscriptions),
    ("GET", "/tenants", groups.list_tenants),
    ("GET", _SUB, groups.get_subscription),
    ("GET", f"{_SUB}/locations", groups.list_locations),
    ("GET", f"{_SUB}/resourceGroups", groups.list_groups),
    ("PUT", _GROUP, groups.put_group),
    ("PATCH", _GROUP, groups.patch_group),
    ("GET", _GROUP, groups.get_group),
    ("HEAD", _GROUP, groups.head_group),
    ("DELETE", _GROUP, groups.delete_group),
    ("GET", f"{_SUB}/providers", _on_service(features.list_providers)),
    ("GET", f"{_SUB}/providers/{{namespace}}", _on_service(features.get_provider)),
    ("POST", f"{_SUB}/providers/{{namespace}}/register", _on_service(features.register_provider)),
    ("POST", f"{_SUB}/providers/{{namespace}}/unregister", _on_service(features.unregister_provider)),
)
_FEATURE_ROWS: tuple[_Row, ...] = (
    ("GET", f"{_FEATURES}/features", _on_service(features.list_features)),
    ("GET", _FEATURE, _on_service(features.list_features)),
    ("GET", f"{_FEATURE}/{{feature}}", _on_service(features.get_feature)),
    ("POST", f"{_FEATURE}/{{feature}}/register", _on_service(features.register_feature)),
    ("POST", f"{_FEATURE}/{{feature}}/unregister", _on_service(features.unregister_feature)),
    ("GET", f"{_FEATURES}/subscriptionFeatureRegistrations", _on_service(features.list_registrations)),
    ("GET", _REGISTRATION, _on_service(features.list_registrations)),
    ("GET", f"{_REGISTRATION}/{{feature}}", _on_service(features.get_registration)),
    ("PUT", f"{_REGISTRATION}/{{feature}}", _on_service(features.put_registration)),
    ("DELETE", f"{_REGISTRATION}/{{feature}}", _on_service(features.delete_registration)),
)
_COMPUTE_ROWS: tuple[_Row, ...] = (
    ("GET", f"{_COMPUTE}/skus", _on_service(compute.skus)),
    ("GET", f"{_COMPUTE}/locations/{{location}}/usages", _on_service(compute.usages)),
)
_AKS_ROWS: tuple[_Row, ...] = (
    ("GET", f"{_PLACE}/operations/{{operation}}", _on_service(operations.status)),
    ("GET", f"{_PLACE}/operationresults/{{operation}}", _on_service(operations.result)),
    ("GET", f"{_PLACE}/kubernetesVersions", locations.kubernetes_versions),
    ("GET", f"{_SUB}/providers/{_AKS}/managedClusters", clusters.list_),
    ("GET", _CLUSTERS, clusters.list_),
    ("PUT", _CLUSTER, clusters.put),
    ("PATCH", _CLUSTER, clusters.patch_tags),
    ("GET", _CLUSTER, clusters.get),
    ("DELETE", _CLUSTER, clusters.delete),
    ("POST", f"{_CLUSTER}/abort", clusters.abort),
    ("GET", f"{_CLUSTER}/upgradeProfiles/default", upgrade_profiles.of_cluster),
    ("POST", f"{_CLUSTER}/listClusterAdminCredential", cluster_credentials.admin_credential),
    ("POST", f"{_CLUSTER}/listClusterUserCredential", cluster_credentials.user_credential),
    ("GET", f"{_CLUSTER}/availableAgentPoolVersions", upgrade_profiles.available_versions),
    ("GET", _POOLS, pools.list_),
    ("PUT", _POOL, pools.put),
    ("GET", _POOL, pools.get),
    ("DELETE", _POOL, pools.delete),
    ("POST", f"{_POOL}/abort", pools.abort),
    ("POST", f"{_POOL}/upgradeNodeImageVersion", pools.upgrade_node_image),
    ("GET", f"{_POOL}/upgradeProfiles/default", upgrade_profiles.of_pool),
)

_TWIN_ROWS: tuple[_Row, ...] = (
    ("GET", "/twin/settings", control.get_settings),
    ("PUT", "/twin/settings", control.put_settings),
)

_TABLES = (
    ("twin", "settings", _TWIN_ROWS),
    ("Microsoft.Resources", "resourceGroups", _RESOURCES),
    ("Microsoft.Features", "features", _FEATURE_ROWS),
    ("Microsoft.Compute", "locations", _COMPUTE_ROWS),
    (_AKS, "managedClusters", _AKS_ROWS),
)
ROUTES = tuple(
    _route(method, template, handler, namespace, "managedClusters/agentPools" if _POOLS in template else kind)
    for namespace, kind, rows in _TABLES
    for method, template, handler in rows
)


def match(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """Return the route for a request and the variable parts of its path; raises ArmError when there is none."""
    methods = []
    for route in ROUTES:
        found = route.pattern.fullmatch(path)
        if found and route.method == method:
            return route, found.groupdict()
        if found:
            methods.append(route.method)
    if methods:
        raise ArmError(
            405,
            "HttpMethodNotAllowed",
            f"The request with HTTP method '{method}' is not allowed here. The twin answers {', '.join(methods)}.",
        )
    raise _nothing_there(path)


def _nothing_there(path: str) -> ArmError:
    if "/microsoft.resources/deployments" in path.lower():
        return ArmError(
            501, "TwinNotSupported", "The twin does not run ARM templates. Create the resources themselves instead."
        )
    return ArmError(
        404,
        "InvalidResourceType",
        f"The resource type could not be found: the twin serves nothing at '{path}'. What it simulates of Azure is "
        "listed in docs/twin.md.",
    )
