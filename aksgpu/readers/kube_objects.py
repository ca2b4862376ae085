"""Reads facts out of Kubernetes objects, wherever they come from: files, Pulumi programs and states, live clusters.

Nothing here raises: what can't be read is a `Malformed` of its fact, what isn't known yet is `UNKNOWN`.
"""

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.readers import gitops
from aksgpu.readers.fields import Fields
from aksgpu.readers.gpu_charts import read_cluster_policy
from aksgpu.readers.gpu_pods import POD_SPECS, read_workload

_POD_GROUPS = ("apps", "batch", "extensions", "v1")


def reads(api_version: str, kind: str) -> bool:
    """Tell whether objects of a kind may hold facts. Cheap, for use before an object is made plain."""
    group = api_version.partition("/")[0]
    if gitops.reads(group, kind):
        return True
    return (group in _POD_GROUPS and kind in POD_SPECS) or (group == "nvidia.com" and kind == "ClusterPolicy")


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
    if not reads(api_version, kind):
        return Estate()
    if gitops.reads(api_version.partition("/")[0], kind):
        return gitops.read(kind, data, place, cluster, part_of)
    if kind == "ClusterPolicy":
        return _cluster_policy(data, place, cluster, part_of)
    return read_workload(kind, place, data, cluster, part_of)


def _cluster_policy(data: object, place: Place, cluster: ClusterRef, part_of: str | None) -> Estate:
    fields = Fields(data)
    name = fields.raw("metadata.name")
    title = f"ClusterPolicy {name if isinstance(name, str) else ''}".rstrip()
    spec = fields.raw("spec")
    return read_cluster_policy(place, title, {} if spec is None else spec, cluster, part_of)
