"""AKSGPU108 to 110: pools against their control plane, and both against the support calendar."""

from collections.abc import Callable, Iterator
from datetime import date

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, equals, not_
from aksgpu.knowledge import kubernetes
from aksgpu.rules.checks import FAILS_OR_WAITS, each_pool_in_cluster
from aksgpu.rules.gpu_pools import has_gpus, serves_gpus
from aksgpu.rules.model import Check, Rule, Verdict

_SKEW_SOURCE = "Microsoft Learn: Supported Kubernetes versions in AKS; Kubernetes version skew policy"
_READS = {"kubernetes_version": "kubernetesVersion"}


def _in_gpu_clusters(check: Check) -> Check:
    """Ask only about clusters that surely have GPUs: the versions of others are nobody's business here."""

    def asked(estate: Estate) -> Iterator[Verdict]:
        serving = tuple(cluster for cluster in estate.clusters if serves_gpus(cluster, estate) is True)
        yield from check(estate.with_clusters(serving))

    return asked


def _ahead(pool: PoolFacts, cluster: ClusterFacts) -> Truth:
    return _compared(pool, cluster, lambda ours, theirs: kubernetes.is_older(theirs, than=ours))


def _behind(pool: PoolFacts, cluster: ClusterFacts) -> Truth:
    return _compared(pool, cluster, lambda ours, theirs: _distance(ours, theirs) > kubernetes.MAX_MINORS_BEHIND)


def _distance(ours: str, theirs: str) -> int:
    pool, control_plane = kubernetes.parse_minor(ours), kubernetes.parse_minor(theirs)
    return control_plane.minor - pool.minor if pool and control_plane else 0


def _compared(pool: PoolFacts, cluster: ClusterFacts, compare: Callable[[str, str], bool]) -> Truth:
    ours, theirs = pool.kubernetes_version, cluster.kubernetes_version
    if ours is None or theirs is None:
        return False  # a pool without a version follows its cluster
    return UNKNOWN if isinstance(ours, Unknown) or isinstance(theirs, Unknown) else compare(ours, theirs)


def _skew_message(pool: PoolFacts, cluster: ClusterFacts) -> str:
    return (
        f"Pool {pool.label} runs Kubernetes {pool.kubernetes_version}; the control plane of {cluster.label} runs "
        f"{cluster.kubernetes_version}."
    )


POOL_AHEAD_OF_CONTROL_PLANE = Rule(
    id="AKSGPU108",
    name="pool-ahead-of-control-plane",
    severity="error",
    summary="No pool of a cluster with GPUs runs a newer Kubernetes than its control plane.",
    why="AKS refuses a pool whose version is above that of the control plane; its kubelets may not talk to it.",
    fix="Upgrade the control plane first, then the pool; or leave orchestratorVersion out, so that it follows.",
    source=_SKEW_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=_in_gpu_clusters(each_pool_in_cluster(_ahead, _skew_message, ("kubernetes_version",), _READS)),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

POOL_TOO_FAR_BEHIND = Rule(
    id="AKSGPU109",
    name="pool-too-far-behind",
    severity="error",
    summary="No pool of a cluster with GPUs is more than three minor versions behind its control plane.",
    why=(
        "Kubernetes supports kubelets that are at most three minors older than the API server. AKS refuses the upgrade "
        "of a control plane that would leave a pool further behind."
    ),
    fix="Upgrade the pool, one minor at a time, before the control plane; `aksgpu upgrade plan` gives the order.",
    source=_SKEW_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=_in_gpu_clusters(each_pool_in_cluster(_behind, _skew_message, ("kubernetes_version",), _READS)),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)


def _support_check(estate: Estate) -> Iterator[Verdict]:
    if estate.today is None:
        return
    for cluster in estate.clusters:
        if serves_gpus(cluster, estate) is True:
            what, plan = cluster.label, cluster.support_plan
            yield from _support(what, cluster.place, cluster.kubernetes_version, plan, estate.today)
    for pool in estate.pools:
        if has_gpus(pool) is True:
            plan = _plan(pool, estate)
            yield from _support(f"pool {pool.label}", pool.place, pool.kubernetes_version, plan, estate.today)


def _plan(pool: PoolFacts, estate: Estate) -> Maybe[str]:
    plans = [
        (cluster.support_plan if meant is True else UNKNOWN) for cluster, meant in estate.clusters_of(pool.cluster)
    ]
    return plans[0] if plans else None


def _support(what: str, place: Place, version: Maybe[str], plan: Maybe[str], today: date) -> Iterator[Verdict]:
    minor = kubernetes.parse_minor(version) if isinstance(version, str) else None
    if isinstance(version, Unknown):
        yield Verdict(
            f"The Kubernetes version of {what} isn't known yet, so its support isn't either.", place, undecided=True
        )
    if minor is None:
        return
    release, text = kubernetes.release(minor), f"{what[0].upper()}{what[1:]} runs Kubernetes {version}"
    if release is None:
        if minor < kubernetes.RELEASES[0].minor:
            yield Verdict(
                f"{text}, which AKS no longer supports; it is older than {kubernetes.RELEASES[0].minor}.", place
            )
        return
    long_term = equals(plan, "AKSLongTermSupport")
    truth = all_of(today > release.end_of_life, not_(all_of(long_term, today <= release.lts_end_of_life)))
    ended = f"{text}. Its support ended on {release.end_of_life}, long-term support "
    ended += f"{'ended' if today > release.lts_end_of_life else 'ends'} on {release.lts_end_of_life}"
    if truth is True:
        yield Verdict(f"{ended}.", place)
    elif isinstance(truth, Unknown):
        yield Verdict(f"{ended}; the cluster's support plan isn't known yet.", place, undecided=True)


END_OF_SUPPORT = Rule(
    id="AKSGPU110",
    name="end-of-support",
    severity="warning",
    summary="A cluster with GPUs and its GPU pools run a Kubernetes version that AKS supports.",
    why=(
        "After the end of support a minor gets no fixes, AKS may upgrade the cluster by itself, and new GPU sizes and "
        "drivers don't come to it."
    ),
    fix=(
        "Upgrade; `aksgpu upgrade plan` lists the steps. Where time is needed, the support plan AKSLongTermSupport "
        "gives a year more."
    ),
    source=f"Microsoft Learn: Supported Kubernetes versions in AKS, calendar as of {kubernetes.AS_OF}",
    on_unknown="A version or support plan that isn't known yet is undecided. Without a day nothing is judged.",
    check=_support_check,
    pillars=("Security", "Operational Excellence"),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (POOL_AHEAD_OF_CONTROL_PLANE, POOL_TOO_FAR_BEHIND, END_OF_SUPPORT)
