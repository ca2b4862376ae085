"""Reads facts out of Kubernetes objects, wherever they come from: files, Pulumi programs and states, live clusters.

Nothing here raises: what can't be read is a `Malformed` of its fact, what isn't known yet is `UNKNOWN`.
"""

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.readers import claims, gitops
from aksgpu.readers.fields import Fields
from aksgpu.readers.gpu_charts import read_cluster_policy
from aksgpu.readers.gpu_pods import read_workload
from aksgpu.readers.pod_specs import POD_SPECS
from aksgpu.readers.workloads import read_workloads

_POD_GROUPS = ("apps", "batch", "extensions", "v1")
_WITHOUT_PODS = (
    "v1",
    "apps",
    "batch",
    "policy",
    "autoscaling",
    "extensions",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "admissionregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "metrics.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "snapshot.storage.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
)
"""Groups whose kinds hold no pod specs, save those in POD_SPECS; kinds of other groups are searched for them."""


def reads(api_version: str, kind: str) -> bool:
    """Tell whether objects of a kind may hold facts. Cheap, for use before an object is made plain."""
    group = api_version.partition("/")[0]
    return gitops.reads(group, kind) or claims.reads(group, kind) or _has_pods(group, kind)


def _has_pods(group: str, kind: str) -> bool:
    return _is_built_in(group, kind) or group not in _WITHOUT_PODS


def _is_built_in(group: str, kind: str) -> bool:
    return group in _POD_GROUPS and kind in POD_SPECS


def read_object(
    api_version: str,
    kind: str,
    data: object,
    place: Place,
    cluster: ClusterRef = ANY_CLUSTER,
    part_of: str | None = None,
) -> Estate:
    """Return the facts in one object (plain data); an empty estate when there are none.

    `part_of` is the chart or component that made it.
    """
    group = api_version.partition("/")[0]
    if gitops.reads(group, kind):
        return gitops.read(kind, data, place, cluster, part_of)
    if claims.reads(group, kind):
        return claims.read(api_version, kind, data, place, cluster)
    if group == "nvidia.com" and kind == "ClusterPolicy":
        return _cluster_policy(data, place, cluster, part_of)
    if not _has_pods(group, kind):
        return Estate()
    built_in = _is_built_in(group, kind)
    software = read_workload(kind, place, data, cluster, part_of) if built_in else Estate()
    consumers = read_workloads(api_version, kind, built_in, data, place, cluster)
    return Estate.merge([software, consumers]) if software and consumers else software or consumers


def _cluster_policy(data: object, place: Place, cluster: ClusterRef, part_of: str | None) -> Estate:
    fields = Fields(data)
    name = fields.raw("metadata.name")
    title = f"ClusterPolicy {name if isinstance(name, str) else ''}".rstrip()
    spec = fields.raw("spec")
    return read_cluster_policy(place, title, {} if spec is None else spec, cluster, part_of)
