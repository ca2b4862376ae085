"""AKSGPU103 and 104: what the API server of a Kubernetes version serves of DRA, and what it drops."""

from collections.abc import Iterator

from aksgpu.facts.base import Place
from aksgpu.facts.claims import ClaimFacts, DeviceClassFacts, DeviceRequest
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, known
from aksgpu.knowledge.dra import API_GROUP, KEPT_FROM, SERVED_FROM
from aksgpu.knowledge.kubernetes import Minor, parse_minor
from aksgpu.rules.checks import FAILS_OR_WAITS, named_or_only
from aksgpu.rules.model import Rule, Verdict


def _older(cluster: ClusterFacts, than: Minor) -> Truth:
    if isinstance(cluster.kubernetes_version, Unknown):
        return UNKNOWN
    minor = parse_minor(cluster.kubernetes_version) if cluster.kubernetes_version else None
    # Text that isn't a version has a finding of its own; no version at all is AKS's default, which is newer.
    return minor is not None and minor < than


def _in_clusters(estate: Estate, ref: ClusterRef) -> Iterator[tuple[ClusterFacts, Truth]]:
    for cluster, meant in estate.clusters_of(ref):
        yield cluster, all_of(meant, named_or_only(ref, estate))


def _served_check(estate: Estate) -> Iterator[Verdict]:
    for place, ref, api_version in _objects(estate):
        stable = api_version == f"{API_GROUP}/v1"
        for cluster, meant in _in_clusters(estate, ref):
            unserved = _older(cluster, SERVED_FROM) if stable else True
            yield from _said(place, cluster, all_of(meant, unserved), _unserved_message(place, api_version, cluster))
    for workload in estate.workloads:
        if not known(workload.claims) or not workload.claims:
            continue
        for cluster, meant in _in_clusters(estate, workload.cluster):
            text = (
                f"{workload.label} uses resource claims, and {cluster.label} runs Kubernetes "
                f"{cluster.kubernetes_version}, which drops them: its pods would run without a GPU."
            )
            where = workload.place.at(f"{workload.path}.resourceClaims")
            yield from _said(where, cluster, all_of(meant, _older(cluster, SERVED_FROM)), text)


def _objects(estate: Estate) -> Iterator[tuple[Place, ClusterRef, str]]:
    for item in (*estate.claims, *estate.device_classes):
        yield item.place, item.cluster, item.api_version


def _unserved_message(place: Place, api_version: str, cluster: ClusterFacts) -> str:
    if api_version != f"{API_GROUP}/v1":
        return f"{place.object} is of {api_version}, which AKS serves in no version; write {API_GROUP}/v1."
    return (
        f"{place.object} is of {api_version}; {cluster.label} runs Kubernetes {cluster.kubernetes_version}, which "
        f"serves it from {SERVED_FROM} on."
    )


def _dropped_check(estate: Estate) -> Iterator[Verdict]:
    for item in (*estate.claims, *estate.device_classes):
        for field, path in _gated(item):
            since = KEPT_FROM[field]
            for cluster, meant in _in_clusters(estate, item.cluster):
                dropped = _older(cluster, since)
                if _older(cluster, SERVED_FROM) is True:
                    continue  # nothing of the object is kept, which is another rule's finding
                text = (
                    f"{item.place.object} sets {field}; {cluster.label} runs Kubernetes {cluster.kubernetes_version} "
                    f"and drops it without a word, as it is kept from {since} on."
                )
                yield from _said(item.place.at(path), cluster, all_of(meant, dropped), text)


def _gated(item: ClaimFacts | DeviceClassFacts) -> Iterator[tuple[str, str]]:
    """Yield the fields behind a feature gate that an object sets, and where."""
    if isinstance(item, DeviceClassFacts):
        if item.extended_resource_name is not None:
            yield "extendedResourceName", "spec.extendedResourceName"
        return
    devices = "spec.devices" if item.kind == "ResourceClaim" else "spec.spec.devices"
    for path in item.fields:
        if path.rpartition(".")[2] in KEPT_FROM and path.startswith("constraints["):
            yield path.rpartition(".")[2], f"{devices}.{path}"
    for request in _every(item.requests):
        for field in request.fields:
            if field in KEPT_FROM:
                yield field, f"{request.path}.{field}"


def _every(requests: Maybe[tuple[DeviceRequest, ...]]) -> Iterator[DeviceRequest]:
    for request in requests if known(requests) else ():
        yield request
        yield from request.alternatives


def _said(place: Place, cluster: ClusterFacts, truth: Truth, text: str) -> Iterator[Verdict]:
    if truth is True:
        yield Verdict(text, place)
    elif isinstance(truth, Unknown) and not cluster.malformed:
        yield Verdict(
            f"{place.object} can't be judged yet: its cluster or the version of {cluster.label} isn't known.",
            place,
            undecided=True,
        )


DRA_API_NOT_SERVED = Rule(
    id="AKSGPU103",
    name="dra-api-not-served",
    severity="error",
    summary="Claims, device classes and pods with claims go to a cluster that serves resource.k8s.io/v1.",
    why=(
        "Kubernetes serves resource.k8s.io/v1 from 1.34 on, and AKS doesn't serve the beta versions. Older API servers "
        "refuse the objects, and drop the claims of pods."
    ),
    fix="Write resource.k8s.io/v1, and upgrade the cluster to 1.34 or later (1.35 for AKS managed DRA).",
    source="Kubernetes, kube_features.go and resource/v1/types.go",
    on_unknown=FAILS_OR_WAITS,
    check=_served_check,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

DRA_FIELD_DROPPED = Rule(
    id="AKSGPU104",
    name="dra-field-dropped",
    severity="error",
    summary="Claims and device classes set no field that the cluster's Kubernetes version drops.",
    why=(
        "The API server drops a field whose feature gate is off, without an error or a warning. The object is stored "
        "and means something else: a class without its extended resource, a claim without its capacity."
    ),
    fix="Remove the field, or upgrade the cluster to the version that keeps it.",
    source="Kubernetes, kube_features.go (DRAExtendedResource, DRADeviceTaints, DRAConsumableCapacity)",
    on_unknown=FAILS_OR_WAITS,
    check=_dropped_check,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (DRA_API_NOT_SERVED, DRA_FIELD_DROPPED)
