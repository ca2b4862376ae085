"""AKSGPU3xx: who hands out the GPUs of a node."""

from collections.abc import Iterator
from dataclasses import dataclass

from aksgpu.facts.base import Place
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import Truth, Unknown, all_of, any_of, equals, is_true, not_
from aksgpu.rules.allocation_values import of_verdict
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import explain, lands_on, obstacles, same_cluster


@dataclass(frozen=True)
class _Advertiser:
    truth: Truth
    text: str
    place: Place | None


def _aks(pool: PoolFacts) -> _Advertiser:
    """AKS's own: the DRA driver or the device plugin, one of which every managed pool has."""
    text = "the AKS DRA driver" if equals(pool.driver_mode, "DRA") is True else "the AKS device plugin"
    return _Advertiser(any_of(pool.is_managed(), pool.asks_for_dra()), f"{text} (the pool is managed)", None)


def _advertises(component: GpuComponent) -> Truth:
    return all_of(is_true(component.enabled), any_of(is_true(component.device_plugin), is_true(component.dra)))


def _component(component: GpuComponent, pool: PoolFacts, estate: Estate) -> _Advertiser:
    truth = all_of(_advertises(component), lands_on(component, pool, estate))
    return _Advertiser(truth, f"{component.description} ({explain(component, pool)})", component.place)


def _by_pool(estate: Estate) -> Iterator[Verdict]:
    for pool in estate.pools:
        on_pool = has_gpus(pool)
        if on_pool is False:
            continue
        nearby = estate.components_near(pool.cluster)
        everyone = [_aks(pool), *(_component(component, pool, estate) for component in nearby)]
        possible = [item for item in everyone if item.truth is not False]
        certain = [item for item in possible if item.truth is True]
        if len(possible) < 2:
            continue
        undecided = len(certain) < 2 or isinstance(on_pool, Unknown)
        yield from _verdicts(pool, possible if undecided else certain, undecided=undecided)


def _check(estate: Estate) -> Iterator[Verdict]:
    """Judge by the nodes of each pool, and the values of charts where there are no pools to judge by."""
    yield from _by_pool(estate)
    yield from of_verdict("dual-advertisement")(estate)


def _verdicts(pool: PoolFacts, advertisers: list[_Advertiser], *, undecided: bool) -> Iterator[Verdict]:
    """Speak at what can be changed: at each component on a pool that AKS serves, else at the first, which names all."""
    names = "; ".join(item.text for item in advertisers)
    may = "may get" if undecided else "get"
    message = f"The nodes of pool {pool.label} {may} {len(advertisers)} advertisers of whole GPUs: {names}."
    if undecided:
        message += " Values that aren't known yet decide; the rule speaks when an update knows."
    places = [item.place for item in advertisers if item.place is not None]
    for place in places[: len(places) if len(places) < len(advertisers) else 1]:
        yield Verdict(message, place, undecided=undecided)


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
    prevents=("preview", "admission"),
    detects=("update", "files"),
    across=True,
)


def _left_out(estate: Estate) -> Iterator[Verdict]:
    for pool in estate.pools:
        advertisers = [
            (item, truth) for item in estate.components_near(pool.cluster) if (truth := _advertises(item)) is not False
        ]
        unmanaged = not_(any_of(pool.is_managed(), pool.asks_for_dra()))
        here = [
            (item, truth)
            for item, truth in advertisers
            if same_cluster(item.cluster, pool.cluster, estate) is not False
        ]
        truth = all_of(
            has_gpus(pool),
            unmanaged,
            # Without any, nothing is known about what advertises in this cluster.
            any_of(*(advertises for _, advertises in here)),
            *(not_(all_of(advertises, lands_on(item, pool, estate))) for item, advertises in here),
        )
        reasons = "; ".join(f"{item.description}: {' and '.join(obstacles(item, pool))}" for item, _ in here)
        if truth is True:
            yield Verdict(f"Nothing advertises the GPUs of pool {pool.label} ({reasons}).", pool.place)
        elif isinstance(truth, Unknown) and not pool.malformed:
            text = f"Whether anything advertises the GPUs of pool {pool.label} isn't known yet."
            yield Verdict(text, pool.place, undecided=True)


POOL_WITHOUT_ADVERTISER = Rule(
    id="AKSGPU304",
    name="pool-without-advertiser",
    severity="info",
    summary="The components that advertise GPUs reach every GPU pool that AKS doesn't manage.",
    why="On a pool that none of them reaches no pod ever gets a GPU, while its nodes are paid for.",
    fix="Let a component select and tolerate the pool, as the message says, or make the pool a managed one.",
    source="Microsoft Learn: Use GPUs for compute-intensive workloads in AKS",
    on_unknown="A pool that a component may reach once more is known is reported as undecided.",
    check=_left_out,
    pillars=("Cost Optimization", "Operational Excellence"),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (DUAL_ADVERTISEMENT, POOL_WITHOUT_ADVERTISER)
