"""How long a step takes, and how many nodes it adds meanwhile."""

import math
import re

from aksgpu.facts.upgrades import PoolVersion
from aksgpu.knowledge import gpu_sizes
from aksgpu.knowledge.upgrades import CONTROL_PLANE, DRAIN_LOW, GPU_NODE, NODE
from aksgpu.upgrade.model import Duration, Extra

ASSUMPTIONS = (
    f"A control plane takes {CONTROL_PLANE.low} to {CONTROL_PLANE.high} minutes.",
    f"A node takes {NODE.low} to {NODE.high} minutes, with a GPU driver to install {GPU_NODE.low} to {GPU_NODE.high}.",
    f"A drain takes from {DRAIN_LOW} minute to the pool's drain timeout; the soak time comes on top.",
    "A pool replaces as many nodes at once as it may add (maxSurge) or miss (maxUnavailable).",
    "Pools are upgraded one after the other; their counts stay as they are now.",
)
_CPUS = re.compile(r"(?:standard|basic)_[a-z]+(\d+).*", re.IGNORECASE)


def has_gpus(pool: PoolVersion) -> bool:
    """Tell whether the pool's nodes have NVIDIA GPUs, as far as the name of the VM size says."""
    return gpu_sizes.kind(pool.vm_size) == "nvidia"


def of_control_plane() -> Duration:
    """Return how long a control plane takes."""
    return Duration(low=CONTROL_PLANE.low, high=CONTROL_PLANE.high)


def of_pool(pool: PoolVersion) -> Duration:
    """Return how long all nodes of a pool take."""
    settings, node = pool.settings, GPU_NODE if has_gpus(pool) else NODE
    added, missing = (_share(text, pool.count) for text in (settings.max_surge, settings.max_unavailable))
    rounds = math.ceil(pool.count / max(added, missing, 1))
    started = 1 if added and pool.count else 0  # the surge nodes, before the first node leaves
    return Duration(
        low=started * node.low + rounds * (node.low + DRAIN_LOW + settings.soak),
        high=started * node.high + rounds * (node.high + settings.drain_timeout + settings.soak),
    )


def surge(pool: PoolVersion) -> Extra | None:
    """Return the surge nodes of a pool; None when it adds none."""
    nodes = _share(pool.settings.max_surge, pool.count)
    if nodes == 0:
        return None
    known = gpu_sizes.find(pool.vm_size)
    cores = known.vcpus if known else _cores_by_name(pool.vm_size)
    return Extra(
        nodes=nodes,
        cores=nodes * cores if cores is not None else None,
        family=known.family if known else None,
        vm_size=pool.vm_size,
    )


def _cores_by_name(vm_size: str) -> int | None:
    """Return the vCPUs of an Azure size: by convention the first number after the family."""
    match = _CPUS.fullmatch(vm_size)
    return int(match[1]) if match else None


def _share(text: str, count: int) -> int:
    """Return `33%` or `2` of `count` nodes, rounded up as AKS does; 0 for what can't be read."""
    number = text.strip().removesuffix("%")
    if not number.isdecimal():
        return 0
    return math.ceil(int(number) * count / 100) if text.strip().endswith("%") else int(number)
