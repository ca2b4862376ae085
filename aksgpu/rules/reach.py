"""AKSGPU302 and 303: whether pods that ask for GPUs can run on a node that gives them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Selection, Toleration
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, any_of, equals, not_
from aksgpu.facts.workloads import Workload
from aksgpu.knowledge.gpu_software import EXTENDED_RESOURCES
from aksgpu.knowledge.node_labels import labels_of
from aksgpu.rules.checks import FAILS_OR_WAITS
from aksgpu.rules.demand import asks_device_plugin, asks_dra, offer
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import lands_on, obstacles, same_cluster

_ADDED = Toleration(key=EXTENDED_RESOURCES[0], operator="Exists")
"""What the API server of AKS adds to pods that ask for the extended resource (ExtendedResourceToleration)."""


@dataclass(frozen=True)
class _Pods:
    """The pods of a workload that want GPUs in one way, as the scheduler sees them."""

    workload: Workload
    wants: Truth
    extended: bool
    """As an extended resource, else by a claim."""

    @property
    def cluster(self) -> ClusterRef:
        return self.workload.cluster

    @property
    def selection(self) -> Maybe[Selection]:
        return self.workload.selection

    @property
    def tolerations(self) -> Maybe[tuple[Toleration, ...]]:
        own = self.workload.tolerations
        return own if isinstance(own, Unknown) or not self.extended else (*(own or ()), _ADDED)


@dataclass(frozen=True)
class _Candidate:
    pool: PoolFacts
    accepts: Truth
    serves: Truth

    @property
    def takes(self) -> Truth:
        """Whether it accepts the pods and has GPUs, which a pool of unknown size may turn out not to have."""
        return all_of(self.accepts, has_gpus(self.pool))


def _asked(estate: Estate) -> Iterator[tuple[_Pods, list[_Candidate]]]:
    """Yield pods that want GPUs, with the GPU pools of their cluster when those are all that there are for them."""
    for workload in estate.workloads:
        # nodeName goes past the scheduler; that is another rule's business.
        if workload.node_name is not None:
            continue
        for pods in (
            _Pods(workload, asks_device_plugin(workload), extended=True),
            _Pods(workload, asks_dra(workload, estate), extended=False),
        ):
            if pods.wants is False or (pods.extended and _served_by_a_class(pods, estate)):
                continue
            here = [pool for pool in estate.pools if same_cluster(pods.cluster, pool.cluster, estate) is not False]
            pools = [pool for pool in here if has_gpus(pool) is not False]
            judged = replace(pods, wants=all_of(pods.wants, _are_all(pods, pools, estate)))
            yield judged, [_candidate(judged, pool, estate) for pool in pools]


def _are_all(pods: _Pods, pools: list[PoolFacts], estate: Estate) -> Truth:
    """Tell whether pods can't go to a pool that isn't among the facts.

    That is so when the cluster itself is among them, unless it adds nodes of its own accord; or when the pods select
    a pool that is among them by one of its labels.
    """
    whole = all_of(*(_is_whole(pool, estate) for pool in pools))
    return any_of(whole, *(_names(pods.selection, pool) for pool in pools))


def _is_whole(pool: PoolFacts, estate: Estate) -> Truth:
    clusters = [(cluster, meant) for cluster, meant in estate.clusters_of(pool.cluster) if cluster.name is not None]
    return any_of(*(all_of(meant, not_(equals(cluster.node_provisioning, "Auto"))) for cluster, meant in clusters))


def _names(selection: Maybe[Selection], pool: PoolFacts) -> Truth:
    if isinstance(selection, Unknown):
        return UNKNOWN
    wanted = selection.labels if selection is not None else {}
    derived = {key: value for key, value in labels_of(pool).items() if key.endswith("agentpool")}
    if any(derived.get(key) == value for key, value in wanted.items()):
        return True
    if isinstance(pool.labels, Unknown):
        return UNKNOWN if wanted else False
    return any((pool.labels or {}).get(key) == value for key, value in wanted.items())


def _served_by_a_class(pods: _Pods, estate: Estate) -> bool:
    """Tell whether a device class gives what is asked for as an extended resource; then DRA pools serve it too."""
    classes = (item for item in estate.device_classes if item.extended_resource_name is not None)
    return any(same_cluster(pods.cluster, item.cluster, estate) is not False for item in classes)


def _candidate(pods: _Pods, pool: PoolFacts, estate: Estate) -> _Candidate:
    given = offer(pool, estate)
    serves = given.device_plugin if pods.extended else given.dra
    return _Candidate(pool, lands_on(pods, pool, estate), all_of(serves, has_gpus(pool)))


def _wrong_pool(estate: Estate, *, extended: bool) -> Iterator[Verdict]:
    for pods, pools in _asked(estate):
        if pods.extended is not extended:
            continue
        nobody = all_of(*(any_of(not_(item.accepts), not_(item.serves)) for item in pools))
        elsewhere = any_of(*(all_of(item.takes, not_(item.serves)) for item in pools))
        truth = all_of(pods.wants, nobody, elsewhere)
        names = ", ".join(item.pool.label for item in pools if item.accepts is not False)
        asks = "asks for GPUs as an extended resource" if extended else "claims GPUs"
        gives = "which hands them out by claims only (DRA)" if extended else "which has a device plugin only"
        if truth is True:
            text = f"{pods.workload.label} {asks}, and only pool {names} takes its pods, {gives}."
            yield Verdict(text, pods.workload.place.at(pods.workload.path))
        elif isinstance(truth, Unknown):
            text = f"{pods.workload.label} may ask for GPUs in a way that pool {names} doesn't hand them out; "
            place = pods.workload.place.at(pods.workload.path)
            yield Verdict(f"{text}values that aren't known yet decide.", place, undecided=True)


def _mismatch_check(estate: Estate) -> Iterator[Verdict]:
    yield from _wrong_pool(estate, extended=True)
    yield from _wrong_pool(estate, extended=False)


ALLOCATION_MISMATCH = Rule(
    id="AKSGPU302",
    name="allocation-mismatch",
    severity="error",
    summary="Pods ask for GPUs in the way that the pools they are let on hand them out.",
    why=(
        "A DRA pool offers no nvidia.com/gpu, and a device-plugin pool satisfies no claim. Pods that can only go to "
        "the other kind of pool stay pending for ever."
    ),
    fix=(
        "Ask by a claim (resourceClaims) on a DRA pool and by nvidia.com/gpu on a device-plugin pool, or let node "
        "selector and tolerations lead to the other pool."
    ),
    source=(
        "Microsoft Learn: Use DRA for NVIDIA GPUs in AKS (preview), Limitations and Migrate from the Kubernetes device "
        "plugin to DRA"
    ),
    on_unknown=FAILS_OR_WAITS,
    check=_mismatch_check,
    prevents=("preview", "admission"),
    detects=("update", "files"),
    across=True,
)


def _unreachable_check(estate: Estate) -> Iterator[Verdict]:
    for pods, pools in _asked(estate):
        serving = [item for item in pools if item.serves is not False]
        truth = all_of(pods.wants, any_of(*(item.serves for item in serving)), *(not_(item.takes) for item in pools))
        place = pods.workload.place.at(pods.workload.path)
        if truth is True:
            reasons = "; ".join(
                f"pool {item.pool.label}: {' and '.join(obstacles(pods, item.pool))}" for item in serving
            )
            yield Verdict(f"No pool takes the pods of {pods.workload.label}, which ask for GPUs ({reasons}).", place)
        elif isinstance(truth, Unknown):
            text = f"Whether a GPU pool takes the pods of {pods.workload.label} isn't known yet."
            yield Verdict(text, place, undecided=True)


GPU_POOL_UNREACHABLE = Rule(
    id="AKSGPU303",
    name="gpu-pool-unreachable",
    severity="error",
    summary="Pods that ask for GPUs select and tolerate a pool that has them.",
    why="Node selector, affinity or a missing toleration keep the pods off every GPU pool; they stay pending for ever.",
    fix="Add the toleration or correct the node selector, as the message says for the pool that is meant.",
    source="Microsoft Learn: Use DRA for NVIDIA GPUs in AKS (preview), Run a GPU workload; kubernetes.io: Taints",
    on_unknown=FAILS_OR_WAITS,
    check=_unreachable_check,
    prevents=("preview", "admission"),
    detects=("update", "files"),
    across=True,
)

RULES = (ALLOCATION_MISMATCH, GPU_POOL_UNREACHABLE)
