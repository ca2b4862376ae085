"""Questions about GPU pools that several rules ask."""

from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, all_of, any_of, equals, one_of
from aksgpu.knowledge import gpu_sizes


def has_gpus(pool: PoolFacts) -> Truth:
    """Tell whether a pool's nodes have NVIDIA GPUs; a size of the N family that no table knows counts as one."""
    return any_of(pool.asks_for_gpu(), _size_has_gpus(pool))


def _size_has_gpus(pool: PoolFacts) -> Truth:
    if isinstance(pool.vm_size, Unknown):
        return UNKNOWN
    # Without a size AKS chooses one, and never one with GPUs.
    return pool.vm_size is not None and gpu_sizes.kind(pool.vm_size) != "no-nvidia"


def size_is(pool: PoolFacts, kind: gpu_sizes.Kind) -> Truth:
    """Tell whether a pool's VM size is of a kind; a pool without a size is of none."""
    if isinstance(pool.vm_size, Unknown):
        return UNKNOWN
    return pool.vm_size is not None and gpu_sizes.kind(pool.vm_size) == kind


def runs_one_of(pool: PoolFacts, os_skus: tuple[str, ...]) -> Truth:
    """Tell whether a pool runs Windows or one of `os_skus`."""
    return any_of(equals(pool.os_type, "Windows"), one_of(pool.os_sku, os_skus), _windows_sku(pool))


def _windows_sku(pool: PoolFacts) -> Truth:
    if isinstance(pool.os_sku, Unknown):
        return UNKNOWN
    return (pool.os_sku or "").casefold().startswith("windows")


def uses_mig(pool: PoolFacts) -> Truth:
    """Tell whether a pool splits its GPUs with multi-instance GPU."""
    written = (
        UNKNOWN if isinstance(value, Unknown) else bool(value)
        for value in (pool.mig_profiles, pool.gpu_instance_profile)
    )
    return any_of(one_of(pool.mig_strategy, ("Single", "Mixed")), *written)


def serves_gpus(cluster: ClusterFacts, estate: Estate) -> Truth:
    """Tell whether a cluster has GPU pools, or gets software that is only there for GPUs."""
    here = ClusterRef(name=cluster.name)
    pools = (all_of(cluster.is_meant_by(pool.cluster), has_gpus(pool)) for pool in estate.pools_near(here))
    software = (
        cluster.is_meant_by(item.cluster) for item in (*estate.components_near(here), *estate.stacks_near(here))
    )
    return any_of(*pools, *software)
