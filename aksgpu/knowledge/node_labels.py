"""Labels and taints that the nodes of a pool have.

Sources: learn.microsoft.com/azure/aks, "Reserved labels" and "Use GPUs on AKS"; kubernetes.io, "Well-Known Labels,
Annotations and Taints".
"""

from collections.abc import Mapping
from typing import Final

from aksgpu.facts.nodes import Taint
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown, equals

SET_ELSEWHERE: Final = (
    "feature.node.kubernetes.io/",
    "nvidia.com/",
    "kubernetes.io/",
    "beta.kubernetes.io/",
    "node.kubernetes.io/",
    "topology.kubernetes.io/",
    "failure-domain.beta.kubernetes.io/",
    "kubernetes.azure.com/",
    "karpenter.azure.com/",
)
"""Prefixes of labels that appear on nodes without being in the pool's own labels."""


SHARED: Final = frozenset(
    {
        "accelerator",
        "beta.kubernetes.io/instance-type",
        "kubernetes.azure.com/accelerator",
        "kubernetes.azure.com/mode",
        "kubernetes.azure.com/scalesetpriority",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
    }
)
"""Labels that AKS derives and that nodes of several pools may have, so that selecting by one names no pool."""

SPOT_LABEL: Final = "kubernetes.azure.com/scalesetpriority"
SPOT_TAINT: Final = Taint(key=SPOT_LABEL, value="spot", effect="NoSchedule")
"""What AKS puts on the nodes of a Spot pool, beside the label of the same key and value."""


def labels_of(pool: PoolFacts) -> Mapping[str, str]:
    """Return the labels that the nodes surely have: the pool's own and those that AKS derives from the pool."""
    own = pool.labels if isinstance(pool.labels, dict) else {}
    derived = {
        "kubernetes.azure.com/accelerator": "nvidia",
        "accelerator": "nvidia",
        "kubernetes.io/os": (pool.os_type if isinstance(pool.os_type, str) else "Linux").lower(),
    }
    if isinstance(pool.name, str):
        derived |= {"agentpool": pool.name, "kubernetes.azure.com/agentpool": pool.name}
    if isinstance(pool.mode, str):
        derived |= {"kubernetes.azure.com/mode": pool.mode.lower()}
    if isinstance(pool.vm_size, str):
        derived |= {"node.kubernetes.io/instance-type": pool.vm_size, "beta.kubernetes.io/instance-type": pool.vm_size}
    if equals(pool.scale_set_priority, "Spot") is True:
        derived |= {SPOT_LABEL: SPOT_TAINT.value}
    return {**own, **derived}


def taints_of(pool: PoolFacts) -> Maybe[tuple[Taint, ...]]:
    """Return the taints that new nodes have: the pool's own, and that of Spot pools."""
    spot = equals(pool.scale_set_priority, "Spot")
    if isinstance(pool.taints, Unknown) or isinstance(spot, Unknown):
        return UNKNOWN
    own = pool.taints or ()
    return (*own, SPOT_TAINT) if spot and SPOT_TAINT not in own else own
