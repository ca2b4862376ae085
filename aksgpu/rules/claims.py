"""AKSGPU607 and 615: claims that ask for more than a claim can have."""

from collections.abc import Callable, Iterator

from aksgpu.facts.base import Place
from aksgpu.facts.claims import ClaimFacts, DeviceRequest
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.knowledge.dra import MAX_ALTERNATIVES, MAX_DEVICES, MAX_ENTRIES, MAX_EXPRESSION
from aksgpu.rules.checks import FAILS_OR_WAITS
from aksgpu.rules.model import Rule, Verdict

_SOURCE = "Kubernetes, resource/v1/types.go and the allocator of the scheduler"


_Judge = Callable[[ClaimFacts, tuple[DeviceRequest, ...]], Iterator[Verdict]]


def _each_claim(estate: Estate, judge: _Judge) -> Iterator[Verdict]:
    """Judge every claim whose requests are known; say of the others that they wait."""
    for claim in estate.claims:
        if not isinstance(claim.requests, Unknown):
            yield from judge(claim, claim.requests or ())
        elif not claim.malformed:
            yield _waiting(claim.place, "the requests")


def _counts(estate: Estate) -> Iterator[Verdict]:
    yield from _each_claim(estate, _counts_of)


def _counts_of(claim: ClaimFacts, requests: tuple[DeviceRequest, ...]) -> Iterator[Verdict]:
    for request in requests:
        yield from _each_count(claim, request)
    yield from _sum(claim, requests)


def _each_count(claim: ClaimFacts, request: DeviceRequest) -> Iterator[Verdict]:
    for each in (request, *request.alternatives):
        if each.count == 0:
            where = claim.place.at(f"{each.path}.count")
            yield Verdict(f"{where.object} writes count 0; the API server makes it 1, and the pod takes a GPU.", where)
    for each in request.alternatives:
        if isinstance(each.count, int) and each.count > MAX_DEVICES:
            where = claim.place.at(f"{each.path}.count")
            yield Verdict(f"{where.object} has an alternative of {each.count} devices; a claim has at most 32.", where)


def _sum(claim: ClaimFacts, requests: tuple[DeviceRequest, ...]) -> Iterator[Verdict]:
    counts = [_devices(request) for request in requests]
    known = sum(count for count in counts if isinstance(count, int))
    unknown = [request for request, count in zip(requests, counts, strict=True) if isinstance(count, Unknown)]
    if known > MAX_DEVICES:
        each = f" in {len(requests)} requests" if len(requests) > 1 else ""
        text = f"{claim.place.object} asks for {known} devices{each}; a claim has at most 32 and would never be served."
        yield Verdict(text, claim.place.at(f"{requests[0].path}.count") if len(requests) == 1 else claim.place)
    elif unknown and not claim.malformed:
        yield _waiting(claim.place.at(f"{unknown[0].path}.count"), "count")


def _devices(request: DeviceRequest) -> int | Unknown:
    """Return how many devices a request takes for certain; of all devices and of alternatives nobody knows."""
    if request.alternatives or request.allocation_mode == "All":
        return 0
    if isinstance(request.count, Unknown):
        return UNKNOWN
    return request.count or 1  # the default, which also takes the place of 0


def _waiting(place: Place, what: str) -> Verdict:
    text = f"{place.object} can't be judged yet without {what}; the rule decides when an update knows."
    return Verdict(text, place, undecided=True)


def _sizes(estate: Estate) -> Iterator[Verdict]:
    yield from _each_claim(estate, _sizes_of)
    for entry in estate.device_classes:
        yield from _selectors(entry.place, "spec", entry.selectors)


def _sizes_of(claim: ClaimFacts, requests: tuple[DeviceRequest, ...]) -> Iterator[Verdict]:
    yield from _too_many(claim.place, len(requests), "requests", MAX_ENTRIES)
    for group in ("constraints", "config"):
        entries = {path.partition(".")[0] for path in claim.fields if path.startswith(f"{group}[")}
        yield from _too_many(claim.place, len(entries), f"entries in {group}", MAX_ENTRIES)
    for request in requests:
        where = claim.place.at(request.path)
        yield from _too_many(where, len(request.alternatives), "alternatives in firstAvailable", MAX_ALTERNATIVES)
        for each in (request, *request.alternatives):
            yield from _selectors(claim.place, each.path, each.selectors)


def _selectors(place: Place, path: str, selectors: Maybe[tuple[str, ...]]) -> Iterator[Verdict]:
    if isinstance(selectors, Unknown) or not selectors:
        return  # what the expressions say is for the rules about CEL, which wait for them
    yield from _too_many(place.at(f"{path}.selectors"), len(selectors), "selectors in one list", MAX_ENTRIES)
    for index, expression in enumerate(selectors):
        where = place.at(f"{path}.selectors[{index}].cel.expression")
        yield from _too_many(
            where, len(expression.encode(errors="surrogatepass")), "bytes in one CEL expression", MAX_EXPRESSION
        )


def _too_many(place: Place, count: int, what: str, limit: int) -> Iterator[Verdict]:
    if count > limit:
        yield Verdict(f"{place.object} has {count} {what}; the API server takes at most {limit}.", place)


DEVICE_COUNT = Rule(
    id="AKSGPU607",
    name="device-count",
    severity="error",
    summary="A claim asks for 1 to 32 devices in all.",
    why=(
        "The API server stores larger numbers and the scheduler never serves them, so the pods stay pending. "
        "A count of 0 becomes 1: the claim takes a GPU that nobody asked for."
    ),
    fix="Split the devices over several claims, or remove the request that is meant to ask for none.",
    source=_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=_counts,
    prevents=("preview", "update", "admission"),
)

CLAIM_TOO_LARGE = Rule(
    id="AKSGPU615",
    name="claim-too-large",
    severity="error",
    summary="A claim has at most 32 requests with 32 selectors each, and a request at most 8 alternatives.",
    why="The API server refuses larger claims; of a template it refuses the claims of every pod.",
    fix="Split the claim, join selectors with `&&`, and remove the least likely alternatives.",
    source=_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=_sizes,
    prevents=("preview", "update"),
)

RULES = (DEVICE_COUNT, CLAIM_TOO_LARGE)
