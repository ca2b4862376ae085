"""AKSGPU311 to 316: values of NVIDIA's charts that leave a cluster without exactly one advertiser.

Values on the command line are all that a cluster gets. A program may leave a part to another program, or to AKS, so
what it doesn't hold is not called missing there, and what it keeps apart by nodes is judged by nodes.
"""

from collections.abc import Iterator

from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Selection
from aksgpu.facts.stack import StackFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, any_of, is_true
from aksgpu.knowledge.stack_values import DRA_DRIVERS, GPUS, OPERATORS, WAIVER
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Check, Rule, Verdict
from aksgpu.rules.placement import same_cluster
from aksgpu.rules.recipe import UNDECIDED, Allocation, Judged, judge_stack, resolve
from aksgpu.rules.stacks import Joined, joined


def allocation_of(estate: Estate) -> Allocation | None:
    """Return what the values on the command line come to; None when they are of no chart that hands out GPUs."""
    stack = next((stack for stack in estate.stacks if stack.complete), None)
    if stack is None or not (_hands_out(stack) or resolve(stack).verdict == "unknown-advertiser"):
        return None
    found = resolve(stack)
    return None if found.verdict == UNDECIDED else found


def of_verdict(verdict: str) -> Check:
    """Make the check that reports one verdict."""

    def check(estate: Estate) -> Iterator[Verdict]:
        for one in joined(estate):
            judged = judge_stack(one.stack)
            if verdict in (judged.allocation.verdict, *judged.possible):
                yield from _said(verdict, judged, one, estate)

    return check


def _said(verdict: str, judged: Judged, one: Joined, estate: Estate) -> Iterator[Verdict]:
    counts = _counts(verdict, one.stack, estate)
    if counts is False:
        return
    undecided = isinstance(counts, Unknown) or judged.allocation.verdict == UNDECIDED or not one.certain
    message = judged.allocation.message
    if isinstance(counts, Unknown):
        message += " Whether both are on one node can't be told without the node pools."
    yield Verdict(message, judged.place, undecided=undecided)


def _counts(verdict: str, stack: StackFacts, estate: Estate) -> Truth:
    """Tell whether a verdict about values says something about the cluster."""
    if stack.complete:
        return _hands_out(stack) or verdict == "unknown-advertiser"
    match verdict:
        case "malformed-value":
            return False  # Said of each value, where it is.
        case "no-advertiser":
            return _holds_both(stack) and not _others(stack, estate)
        case "dual-advertisement":
            return _meet(stack, estate)
    return True


def _hands_out(stack: StackFacts) -> bool:
    return any(stack.component(name) for name in (*OPERATORS, *DRA_DRIVERS))


def _holds_both(stack: StackFacts) -> bool:
    return any(stack.component(name) for name in OPERATORS) and any(stack.component(name) for name in DRA_DRIVERS)


def _others(stack: StackFacts, estate: Estate) -> bool:
    """Tell whether anything outside the stack may hand out the cluster's GPUs: AKS, or a device plugin by itself."""
    own = {component.place.object for component in stack.components}
    software = (
        any_of(is_true(item.device_plugin), is_true(item.dra)) is not False
        for item in estate.components
        if item.place.object not in own and same_cluster(stack.cluster, item.cluster, estate) is not False
    )
    aks = (
        any_of(pool.is_managed(), pool.asks_for_dra()) is not False
        for pool in estate.pools_near(stack.cluster)
        if same_cluster(stack.cluster, pool.cluster, estate) is not False
    )
    return any(software) or any(aks)


def _meet(stack: StackFacts, estate: Estate) -> Truth:
    """Tell whether the operator and the DRA driver of a program share nodes, as far as it can be told without pools."""
    pools = (pool for pool in estate.pools_near(stack.cluster) if has_gpus(pool) is not False)
    if any(same_cluster(stack.cluster, pool.cluster, estate) is not False for pool in pools):
        return False  # Said of each pool, which knows its labels and taints.
    operator = _software(stack, OPERATORS, estate)
    driver = _software(stack, DRA_DRIVERS, estate)
    if not (isinstance(operator, Selection) and isinstance(driver, Selection)):
        return UNKNOWN
    if any(driver.labels.get(key, value) != value for key, value in operator.labels.items()):
        return False
    # Nodes that the driver selects may have the label that keeps the operator away.
    return UNKNOWN if driver.labels else True


def _software(stack: StackFacts, names: tuple[str, ...], estate: Estate) -> Selection | Unknown | None:
    objects = {component.place.object for component in stack.components if component.name in names}
    found: list[GpuComponent] = [item for item in estate.components if item.place.object in objects]
    return found[0].selection if found else Selection()


_SOURCE = "NVIDIA/aicr issue 1327 and pkg/validator/v1/allocation_policy.go; AICR: AKS GPU setup, allocation mode"
_ON_UNKNOWN = (
    "Every value that isn't known yet is tried with all that it can be. The rule fails when all lead here, and says "
    "what it waits for when some do."
)


def _rule(id_: str, name: str, *, summary: str, why: str, fix: str, in_programs: bool = True) -> Rule:
    return Rule(
        id=id_,
        name=name,
        severity="error",
        summary=summary,
        why=why,
        fix=fix,
        source=_SOURCE,
        on_unknown=_ON_UNKNOWN,
        check=of_verdict(name),
        prevents=("preview",) if in_programs else (),
        detects=("update", "files") if in_programs else ("files",),
        across=True,
    )


UNKNOWN_ADVERTISER = _rule(
    "AKSGPU311",
    "unknown-advertiser",
    summary="Who else hands out whole GPUs is said with a word that is known.",
    why="A word that nobody knows would be taken for nobody, and a second advertiser would go unnoticed.",
    fix="Write --advertiser external for a device plugin that none of the charts installs, or leave it out.",
    in_programs=False,
)
SWITCH_NOT_PINNED = _rule(
    "AKSGPU312",
    "switch-not-pinned",
    summary="The values of the DRA driver say whether it publishes whole GPUs.",
    why=(
        "The chart's default is to publish them, and its guard then refuses to be installed. A default that changes "
        "with a chart version would change who hands out the GPUs of a running cluster."
    ),
    fix=(
        f"Set {GPUS}: false to keep nvidia.com/gpu and the device plugin. For resource claims set {GPUS} and {WAIVER} "
        "to true, and the GPU Operator's devicePlugin.enabled to false."
    ),
)
CHART_GUARD = _rule(
    "AKSGPU313",
    "chart-guard",
    summary="A DRA driver that publishes whole GPUs has the waiver that its chart asks for.",
    why="The chart refuses to be installed without it, so that nobody gets two advertisers by a default.",
    fix=(
        f"Set {WAIVER}: true beside {GPUS}: true, and the GPU Operator's devicePlugin.enabled to false; or set {GPUS} "
        "to false."
    ),
)
NO_ADVERTISER = _rule(
    "AKSGPU314",
    "no-advertiser",
    summary="Something hands out whole GPUs.",
    why="With the device plugin and the DRA driver's GPUs both off, no pod ever gets a GPU: it waits without an error.",
    fix=(
        f"Switch exactly one on: devicePlugin.enabled of the GPU Operator, or {GPUS} with {WAIVER} of the DRA driver. "
        "If a device plugin outside these charts does it, say --advertiser external."
    ),
)
INERT_WAIVER = _rule(
    "AKSGPU315",
    "inert-waiver",
    summary="The chart's guard is waived only where whole GPUs are published.",
    why=(
        "The waiver does nothing today. The day somebody switches GPUs on, the guard that would have stopped two "
        "advertisers is gone."
    ),
    fix=f"Set {WAIVER} to false or remove it, or set {GPUS} to true and devicePlugin.enabled to false.",
)
TWO_OPERATORS = _rule(
    "AKSGPU316",
    "two-operators",
    summary="A cluster gets one GPU Operator.",
    why="Two operators reconcile the same nodes: each installs its driver, toolkit and device plugin over the other's.",
    fix="Disable one; on AKS that is gpu-operator-ocp, which is for OpenShift.",
)

RULES = (UNKNOWN_ADVERTISER, SWITCH_NOT_PINNED, CHART_GUARD, NO_ADVERTISER, INERT_WAIVER, TWO_OPERATORS)
