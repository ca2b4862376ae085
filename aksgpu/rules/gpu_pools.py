"""Which pools have GPUs, for rules about what runs on them."""

from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, any_of
from aksgpu.knowledge import gpu_sizes


def has_gpus(pool: PoolFacts) -> Truth:
    """Tell whether a pool's nodes have NVIDIA GPUs; a size of the N family that no table knows counts as one."""
    return any_of(pool.asks_for_gpu(), _size_has_gpus(pool))


def _size_has_gpus(pool: PoolFacts) -> Truth:
    if isinstance(pool.vm_size, Unknown):
        return UNKNOWN
    # Without a size AKS chooses one, and never one with GPUs.
    return pool.vm_size is not None and gpu_sizes.kind(pool.vm_size) != "no-nvidia"
