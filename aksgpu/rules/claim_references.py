"""AKSGPU602, 608, 614: whether the claims that pods refer to are there. Across objects."""

from collections.abc import Iterator

from aksgpu.facts.claims import ClaimFacts
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import Unknown
from aksgpu.facts.workloads import PodClaim, Workload
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import same_cluster

_API = "kubernetes.io: Dynamic Resource Allocation; Kubernetes API, PodSpec.resourceClaims"
_WAITS = "Names and namespaces that aren't known yet may turn out to match, so nothing is said about them before."


def _references(estate: Estate) -> Iterator[tuple[Workload, PodClaim, str, str]]:
    """Yield what pods refer to: workload, entry, kind, name."""
    for workload in estate.workloads:
        for claim in workload.claims if isinstance(workload.claims, tuple) else ():
            if isinstance(claim.claim, str):
                yield workload, claim, "ResourceClaim", claim.claim
            elif isinstance(claim.template, str):
                yield workload, claim, "ResourceClaimTemplate", claim.template


def _namespace(item: Workload | ClaimFacts) -> str | Unknown:
    return item.namespace if isinstance(item.namespace, Unknown) else item.namespace or "default"


class _Claims:
    """The claims of an estate by kind and name."""

    def __init__(self, estate: Estate) -> None:
        self._by_name: dict[tuple[str, str], list[ClaimFacts]] = {}
        self._namespaces: set[str] = set()
        self.are_known = True
        """Whether every claim's name and namespace are known."""
        for claim in estate.claims:
            space = _namespace(claim)
            if isinstance(claim.name, str) and isinstance(space, str):
                self._by_name.setdefault((claim.kind, claim.name), []).append(claim)
                self._namespaces.add(space)
            else:
                self.are_known = False

    def here(self, workload: Workload, kind: str, name: str) -> ClaimFacts | None:
        """Return the claim that a pod means."""
        return next((one for one in self.all(kind, name) if _namespace(one) == _namespace(workload)), None)

    def all(self, kind: str, name: str) -> list[ClaimFacts]:
        """Return the claims of a name in all namespaces."""
        return self._by_name.get((kind, name), [])

    def are_all_of(self, workload: Workload) -> bool:
        """Tell whether claims of the pod's namespace are among the facts, and none whose name isn't known."""
        return self.are_known and _namespace(workload) in self._namespaces


def _elsewhere(estate: Estate) -> Iterator[Verdict]:
    claims = _Claims(estate)
    for workload, claim, kind, name in _references(estate):
        if isinstance(_namespace(workload), Unknown):
            continue
        others = [one for one in claims.all(kind, name) if same_cluster(workload.cluster, one.cluster, estate) is True]
        if others and claims.here(workload, kind, name) is None and claims.are_known:
            there = ", ".join(sorted({str(_namespace(one)) for one in others}))
            text = (
                f"{workload.label} in namespace {_namespace(workload)} refers to the {kind} {name}, which is in "
                f"namespace {there}."
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
    claims = _Claims(estate)
    for workload, claim, kind, name in _references(estate):
        if claims.all(kind, name) or not claims.are_all_of(workload):
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
    claims = _Claims(estate)
    for workload, claim, kind, name in _references(estate):
        found = claims.here(workload, kind, name)
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
