"""AKSGPU609 to 611: the CEL expressions with which claims and device classes select devices."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from aksgpu.facts.base import Place
from aksgpu.facts.claims import ClaimFacts, DeviceRequest
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import Maybe, Unknown
from aksgpu.knowledge.device_cel import check, evaluate
from aksgpu.knowledge.dra import PRODUCTS, REMOVED_ATTRIBUTES, sample_devices
from aksgpu.rules.checks import FAILS_OR_WAITS
from aksgpu.rules.model import Rule, Verdict


class Selectors(NamedTuple):
    """The list of one request, alternative or class."""

    place: Place
    path: str
    expressions: Maybe[tuple[str, ...]]
    cluster: ClusterRef


def selector_lists(estate: Estate) -> Iterator[Selectors]:
    """Yield every list of selectors, of claims and of classes."""
    for claim in estate.claims:
        if isinstance(claim.requests, Unknown):
            if not claim.malformed:
                yield Selectors(claim.place, "", claim.requests, claim.cluster)
            continue
        for request in claim.requests or ():
            yield from (_of_request(claim, each) for each in (request, *request.alternatives))
    for entry in estate.device_classes:
        if not (entry.malformed and isinstance(entry.selectors, Unknown)):
            yield Selectors(entry.place, "spec.selectors", entry.selectors, entry.cluster)


def _of_request(claim: ClaimFacts, request: DeviceRequest) -> Selectors:
    return Selectors(claim.place, f"{request.path}.selectors", request.selectors, claim.cluster)


def _each_expression(broken: Callable[[str], str | None]) -> Callable[[Estate], Iterator[Verdict]]:
    """Check each expression by itself; `broken` says what is wrong with it."""

    def judge(estate: Estate) -> Iterator[Verdict]:
        for each in selector_lists(estate):
            if isinstance(each.expressions, Unknown):
                yield waiting(each)
                continue
            for index, expression in enumerate(each.expressions or ()):
                problem = broken(expression)
                if problem:
                    where = each.place.at(f"{each.path}[{index}].cel.expression")
                    yield Verdict(f"The selector {shown(expression)} of {where.object} {problem}", where)

    return judge


def waiting(each: Selectors) -> Verdict:
    """Say that selectors can't be judged before they are known."""
    text = f"{each.place.object} can't be judged yet without its selectors; the rule decides when an update knows them."
    return Verdict(text, each.place.at(each.path) if each.path else each.place, undecided=True)


def shown(expression: str) -> str:
    """Write an expression on one line."""
    text = " ".join(expression.split())
    return f"`{text}`" if len(text) <= 120 else f"`{text[:117]}...`"


def _compile_problem(expression: str) -> str | None:
    problem = check(expression).problem
    return f"doesn't compile: {problem}." if problem else None


@lru_cache(maxsize=4096)
def _type_problem(expression: str) -> str | None:
    checked = check(expression)
    if checked.problem:
        return None  # which is another rule's finding
    kinds = {checked.type} if checked.type else _kinds_when_run(expression)
    wrong = sorted(kind for kind in kinds if kind and kind != "bool")
    return f"gives a {wrong[0]} where true or false is wanted." if wrong else None


def _kinds_when_run(expression: str) -> set[str | None]:
    return {evaluate(expression, device).type for device in sample_devices(PRODUCTS)}


@lru_cache(maxsize=4096)
def _removed_problem(expression: str) -> str | None:
    if not any(name in expression for name in REMOVED_ATTRIBUTES):
        return None
    for device in sample_devices(PRODUCTS):
        missing = evaluate(expression, device).missing
        if missing in REMOVED_ATTRIBUTES:
            instead = REMOVED_ATTRIBUTES[missing]
            return f"reads {missing}, which NVIDIA's driver no longer publishes; {instead} identifies a GPU now."
    return None


_SOURCE = "Kubernetes, the package k8s.io/dynamic-resource-allocation/cel"

CEL_DOES_NOT_COMPILE = Rule(
    id="AKSGPU609",
    name="cel-does-not-compile",
    severity="error",
    summary="Selectors of claims and device classes are CEL that the API server compiles.",
    why="The API server refuses the object; of a template it refuses the claims of every pod.",
    fix=(
        "Correct the expression. Quantities and versions are compared by functions: "
        '`device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("40Gi"))`.'
    ),
    source=_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=_each_expression(_compile_problem),
    prevents=("preview", "update"),
)

CEL_NOT_BOOLEAN = Rule(
    id="AKSGPU610",
    name="cel-not-boolean",
    severity="error",
    summary="Selectors of claims and device classes are true or false.",
    why=(
        "The API server refuses an expression of another type. When only running it tells the type, as with "
        "attributes, the object is stored and the scheduler fails for every pod that uses it."
    ),
    fix="Compare the value with something.",
    source=_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=_each_expression(_type_problem),
    prevents=("preview", "update"),
)

CEL_REMOVED_ATTRIBUTE = Rule(
    id="AKSGPU611",
    name="cel-removed-attribute",
    severity="error",
    summary="Selectors read no attribute that NVIDIA's driver has stopped publishing.",
    why=(
        "The expression fails on every GPU, and one failing device stops the scheduler's whole attempt: the pod stays "
        "pending on every node. Releases up to 25.3 published index, minor and parentIndex, up to 25.8 pcieBusID."
    ),
    fix=(
        "Select by another attribute, or count GPUs instead of naming them. An attribute that may be absent is read "
        'with a default: `device.attributes["gpu.nvidia.com"].?index.orValue(0)`.'
    ),
    source="kubernetes-sigs/dra-driver-nvidia-gpu, deviceinfo.go in the releases 25.3 to 0.4.1",
    on_unknown=FAILS_OR_WAITS,
    check=_each_expression(_removed_problem),
    prevents=("preview", "update"),
)

RULES = (CEL_DOES_NOT_COMPILE, CEL_NOT_BOOLEAN, CEL_REMOVED_ATTRIBUTE)
