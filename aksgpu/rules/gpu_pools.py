"""Which pools have GPUs, for rules about what runs on them."""

from aksgpu.facts.clusters import ClusterFacts
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, all_of, any_of
from aksgpu.knowledge import gpu_sizes


def has_gpus(pool: PoolFacts) -> Truth:
    """Tell whether a pool's nodes have NVIDIA GPUs; a size of the N family that no table knows counts as one."""
    return any_of(pool.asks_for_gpu(), _size_has_gpus(pool))


def _size_has_gpus(pool: PoolFacts) -> Truth:
    if isinstance(pool.vm_size, Unknown):
        return UNKNOWN
    # Without a size AKS chooses one, and never one with GPUs.
    return pool.vm_size is not None and gpu_sizes.kind(pool.vm_size) != "no-nvidia"


def serves_gpus(cluster: ClusterFacts, estate: Estate) -> Truth:
    """Tell whether a cluster has GPU pools, or gets software that is only there for GPUs."""
    pools = (all_of(cluster.is_meant_by(pool.cluster), has_gpus(pool)) for pool in estate.pools)
    software = (cluster.is_meant_by(item.cluster) for item in (*estate.components, *estate.stacks))
    return any_of(*pools, *software)
