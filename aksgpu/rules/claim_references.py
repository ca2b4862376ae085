"""AKSGPU602, 608, 614: whether the claims that pods refer to are there. Across objects."""

from collections.abc import Iterator

from aksgpu.facts.claims import ClaimFacts
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.namespaces import effective
from aksgpu.facts.truth import Unknown
from aksgpu.facts.workloads import PodClaim, Workload
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import same_cluster

_API = "kubernetes.io: Dynamic Resource Allocation; Kubernetes API, PodSpec.resourceClaims"
_WAITS = "Names and namespaces that aren't known yet may turn out to match, so nothing is said about them before."


class _Claims:
    """The claims of one cluster, by kind and name."""

    def __init__(self, cluster: ClusterRef, estate: Estate) -> None:
        self._named: dict[tuple[str, str], list[ClaimFacts]] = {}
        self._namespaces: set[str] = set()
        self.are_known = True
        """Whether every claim's name and namespace are known."""
        for claim in estate.claims_near(cluster):
            if same_cluster(cluster, claim.cluster, estate) is not False:
                self._add(claim)

    def _add(self, claim: ClaimFacts) -> None:
        namespace = effective(claim.namespace)
        if isinstance(claim.name, str):
            self._named.setdefault((claim.kind, claim.name), []).append(claim)
        if isinstance(namespace, str):
            self._namespaces.add(namespace)
        self.are_known &= isinstance(claim.name, str) and isinstance(namespace, str)

    def of_name(self, kind: str, name: str) -> list[ClaimFacts]:
        """Return the claims of a name in all namespaces."""
        return self._named.get((kind, name), [])

    def beside(self, workload: Workload, kind: str, name: str) -> ClaimFacts | None:
        """Return the claim that a pod means."""
        here = effective(workload.namespace)
        return next((claim for claim in self.of_name(kind, name) if effective(claim.namespace) == here), None)

    def are_all_of(self, workload: Workload) -> bool:
        """Tell whether claims of the pod's namespace are among the facts, and none whose name isn't known."""
        return self.are_known and effective(workload.namespace) in self._namespaces


def _references(estate: Estate) -> Iterator[tuple[Workload, PodClaim, str, str, _Claims]]:
    """Yield what pods refer to: workload, entry, kind, name, and the claims of its cluster."""
    by_cluster: dict[ClusterRef, _Claims] = {}
    for workload in estate.workloads:
        if not isinstance(workload.claims, tuple) or isinstance(workload.namespace, Unknown):
            continue
        if workload.cluster not in by_cluster:
            by_cluster[workload.cluster] = _Claims(workload.cluster, estate)
        claims = by_cluster[workload.cluster]
        for claim in workload.claims:
            if isinstance(claim.claim, str):
                yield workload, claim, "ResourceClaim", claim.claim, claims
            elif isinstance(claim.template, str):
                yield workload, claim, "ResourceClaimTemplate", claim.template, claims


def _elsewhere(estate: Estate) -> Iterator[Verdict]:
    for workload, claim, kind, name, claims in _references(estate):
        others = claims.of_name(kind, name)
        if others and claims.beside(workload, kind, name) is None and claims.are_known:
            there = ", ".join(sorted({str(effective(one.namespace)) for one in others}))
            text = (
                f"{workload.label} in namespace {effective(workload.namespace)} refers to the {kind} {name}, which is "
                f"in namespace {there}."
            )
            yield Verdict(text, workload.place.at(claim.path))


CLAIM_IN_OTHER_NAMESPACE = Rule(
    id="AKSGPU602",
    name="claim-in-other-namespace",
    severity="error",
    summary="Pods and the claims they refer to are in one namespace.",
    why="A pod finds claims and templates in its own namespace only; without one it stays pending, without an event.",
    fix="Move the claim or template to the pod's namespace, or make another of the same name there.",
    source=_API,
    on_unknown=_WAITS,
    check=_elsewhere,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)


def _missing(estate: Estate) -> Iterator[Verdict]:
    for workload, claim, kind, name, claims in _references(estate):
        if claims.of_name(kind, name) or not claims.are_all_of(workload):
            continue
        text = f"{workload.label} refers to the {kind} {name}, which is not among the claims of its namespace here."
        yield Verdict(text, workload.place.at(claim.path))


MISSING_CLAIM = Rule(
    id="AKSGPU608",
    name="missing-claim",
    severity="warning",
    summary="The claims that pods refer to are declared beside them.",
    why=(
        "A claim that isn't there leaves the pod pending without any event. Here others of the namespace are declared, "
        "so this one is probably misspelt; it may exist in the cluster all the same."
    ),
    fix="Correct the name, or declare the claim or template.",
    source=_API,
    on_unknown=_WAITS,
    check=_missing,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)


def _unknown_request(estate: Estate) -> Iterator[Verdict]:
    for workload, claim, kind, name, claims in _references(estate):
        found = claims.beside(workload, kind, name)
        if found is None or not isinstance(found.requests, tuple) or not isinstance(workload.containers, tuple):
            continue
        names = {part.name for request in found.requests for part in (request, *request.alternatives)}
        paths = {f"{request.name}/{part.name}" for request in found.requests for part in request.alternatives}
        for container in workload.containers:
            for use in container.claims if isinstance(container.claims, tuple) else ():
                known = isinstance(use.request, str) and not any(isinstance(one, Unknown) for one in names)
                if use.name == claim.name and known and use.request not in (names | paths):
                    text = (
                        f"{workload.label} uses the request {use.request} of {kind} {name}, which has "
                        f"{', '.join(sorted(str(one) for one in names))}."
                    )
                    yield Verdict(text, workload.place.at(container.path))


UNKNOWN_REQUEST_NAME = Rule(
    id="AKSGPU614",
    name="unknown-request-name",
    severity="error",
    summary="A container uses a request that the claim has.",
    why="The API server takes any name, and the pod is scheduled; the container then starts without a GPU.",
    fix="Correct the name in resources.claims[].request, or leave it out to use all requests of the claim.",
    source=f"{_API}; measured on Kubernetes 1.36",
    on_unknown=_WAITS,
    check=_unknown_request,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (CLAIM_IN_OTHER_NAMESPACE, MISSING_CLAIM, UNKNOWN_REQUEST_NAME)
