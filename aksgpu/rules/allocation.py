"""AKSGPU3xx: who hands out the GPUs of a node."""

from collections.abc import Iterator
from dataclasses import dataclass

from aksgpu.facts.base import Place
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import Truth, Unknown, all_of, any_of, equals, is_true
from aksgpu.rules.allocation_values import of_verdict
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import explain, lands_on


@dataclass(frozen=True)
class _Advertiser:
    truth: Truth
    text: str
    place: Place | None


def _aks(pool: PoolFacts) -> _Advertiser:
    """AKS's own: the DRA driver or the device plugin, one of which every managed pool has."""
    text = "the AKS DRA driver" if equals(pool.driver_mode, "DRA") is True else "the AKS device plugin"
    return _Advertiser(any_of(pool.is_managed(), pool.asks_for_dra()), f"{text} (the pool is managed)", None)


def _component(component: GpuComponent, pool: PoolFacts, estate: Estate) -> _Advertiser:
    truth = all_of(
        is_true(component.enabled),
        any_of(is_true(component.device_plugin), is_true(component.dra)),
        lands_on(component, pool, estate),
    )
    return _Advertiser(truth, f"{component.description} ({explain(component, pool)})", component.place)


def _by_pool(estate: Estate) -> Iterator[Verdict]:
    for pool in estate.pools:
        on_pool = has_gpus(pool)
        if on_pool is False:
            continue
        everyone = [_aks(pool), *(_component(component, pool, estate) for component in estate.distinct_components())]
        possible = [item for item in everyone if item.truth is not False]
        certain = [item for item in possible if item.truth is True]
        if len(possible) < 2:
            continue
        undecided = len(certain) < 2 or isinstance(on_pool, Unknown)
        yield _verdict(pool, possible if undecided else certain, undecided=undecided)


def _check(estate: Estate) -> Iterator[Verdict]:
    """Judge by the nodes of each pool, and the values of charts where there are no pools to judge by."""
    yield from _by_pool(estate)
    yield from of_verdict("dual-advertisement")(estate)


def _verdict(pool: PoolFacts, advertisers: list[_Advertiser], *, undecided: bool) -> Verdict:
    place = next((item.place for item in advertisers if item.place), pool.place)
    names = "; ".join(item.text for item in advertisers)
    if undecided:
        message = f"The nodes of pool {pool.label} may get {len(advertisers)} advertisers of whole GPUs: {names}. "
        return Verdict(
            f"{message}Values that aren't known yet decide; the rule speaks when an update knows.",
            place,
            undecided=True,
        )
    return Verdict(f"The nodes of pool {pool.label} get {len(advertisers)} advertisers of whole GPUs: {names}.", place)


DUAL_ADVERTISEMENT = Rule(
    id="AKSGPU301",
    name="dual-advertisement",
    severity="error",
    summary="Every GPU node has exactly one advertiser of whole GPUs.",
    why=(
        "Two advertisers offer the same GPUs twice. Neither sees what the other has given away, so two workloads get "
        "one GPU and fail or corrupt each other's memory."
    ),
    fix=(
        "Remove one of them from the pool: give the component a node selector that only the other "
        "pools' labels match, "
        "or a taint on this pool that it doesn't tolerate. On a pool that AKS manages, keep only what "
        "AKS runs. If they "
        "are for different clusters, set clusterIdentifier on the Kubernetes providers."
    ),
    source=(
        "Microsoft Learn: Use DRA for NVIDIA GPUs in AKS (preview), Limitations; NVIDIA/aicr issue 1327; "
        "ai-dynamo/dynamo pull request 13536"
    ),
    on_unknown="Two advertisers of which one is not certain yet are reported as undecided; one alone never is.",
    check=_check,
    prevents=("component", "preview", "admission"),
    detects=("update", "files"),
    across=True,
)

RULES = (DUAL_ADVERTISEMENT,)
