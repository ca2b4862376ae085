"""Turns conditions into checks, so that a rule states what is wrong and never how to loop or what unknown means."""

from collections.abc import Callable, Iterator

from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of
from aksgpu.rules.model import Check, Verdict

FAILS_OR_WAITS = (
    "When the known values don't settle it, the rule says which values it waits for and decides when they are known."
)
"""What `on_unknown` says for every check made here."""

_REST_NAMES = {
    "name": "name",
    "vm_size": "vmSize",
    "os_type": "osType",
    "os_sku": "osSKU",
    "kubernetes_version": "orchestratorVersion",
    "mode": "mode",
    "scale_set_priority": "scaleSetPriority",
    "max_surge": "upgradeSettings.maxSurge",
    "max_unavailable": "upgradeSettings.maxUnavailable",
    "autoscaling": "enableAutoScaling",
    "gpu_driver": "gpuProfile.driver",
    "management_mode": "gpuProfile.nvidia.managementMode",
    "driver_mode": "gpuProfile.nvidia.driverMode",
    "mig_strategy": "gpuProfile.nvidia.migStrategy",
    "mig_profiles": "gpuProfile.nvidia.migProfiles",
    "gpu_instance_profile": "gpuInstanceProfile",
    "labels": "nodeLabels",
    "taints": "nodeTaints",
    "vm_tags": "tags",
}


def each_pool(
    broken: Callable[[PoolFacts], Truth], message: Callable[[PoolFacts], str], reads: tuple[str, ...]
) -> Check:
    """Check every pool by itself; `reads` are the fields that `broken` looks at."""

    def check(estate: Estate) -> Iterator[Verdict]:
        for pool in estate.pools:
            truth = broken(pool)
            if truth is True:
                yield Verdict(message(pool), pool.place)
            elif isinstance(truth, Unknown) and not pool.malformed:
                # A malformed value is unknown too, and has a finding of its own.
                yield waiting(pool, unknown_fields(pool, reads))

    return check


def each_pool_in_cluster(
    broken: Callable[[PoolFacts, ClusterFacts], Truth],
    message: Callable[[PoolFacts, ClusterFacts], str],
    reads: tuple[str, ...],
    cluster_reads: dict[str, str],
) -> Check:
    """Check every pool together with each cluster that it belongs to or may belong to."""

    def check(estate: Estate) -> Iterator[Verdict]:
        for pool in estate.pools:
            for cluster, meant in estate.clusters_of(pool.cluster):
                truth = all_of(meant, broken(pool, cluster))
                if truth is True:
                    yield Verdict(message(pool, cluster), pool.place)
                elif isinstance(truth, Unknown) and not (pool.malformed or cluster.malformed):
                    missing = unknown_fields(pool, reads)
                    missing += [
                        f"{path} of its cluster"
                        for field, path in cluster_reads.items()
                        if isinstance(getattr(cluster, field), Unknown)
                    ]
                    yield waiting(pool, missing or ["the names of cluster and pool's cluster"])

    return check


def named_or_only(ref: ClusterRef, estate: Estate) -> Truth:
    """Tell whether it is clear which cluster is meant: what names none goes to the only one."""
    silent = ref.object is None and ref.name is None
    return UNKNOWN if silent and len(estate.clusters) > 1 else True


def unknown_fields(pool: PoolFacts, reads: tuple[str, ...]) -> list[str]:
    """Return the REST names of those fields of a pool that are not known yet."""
    return [_REST_NAMES[field] for field in reads if isinstance(getattr(pool, field), Unknown)]


def said(value: Maybe[str], default: str) -> str:
    """Return a value for a sentence: what holds when it isn't written, or that it isn't known yet."""
    return "not known yet" if isinstance(value, Unknown) else value or default


def waiting(pool: PoolFacts, missing: list[str]) -> Verdict:
    """Say that a pool can't be judged before `missing` is known."""
    return Verdict(
        f"Pool {pool.label} can't be judged yet without {', '.join(missing)}; the rule decides when an update knows.",
        pool.place,
        undecided=True,
    )
