"""Upgrades of AKS clusters: what each minor brings for GPUs, which channels act by themselves, how long nodes take.

Sources: `pkg/features/kube_features.go` of Kubernetes 1.33 to 1.37; learn.microsoft.com/azure/aks: "Use dynamic
resource allocation for NVIDIA GPUs", "Automatically upgrade an AKS cluster", "Upgrade an AKS cluster". No source says
how long anything takes: the minutes are this project's own estimates.
"""

from datetime import date
from typing import Final, NamedTuple

from aksgpu.knowledge.kubernetes import Minor

AS_OF: Final = date(2026, 11, 30)

_DROPPED: Final = (
    "extendedResourceName, device taints and tolerations, capacity requests, distinctAttribute, partitionable devices"
)

BRINGS: Final[dict[Minor, tuple[str, ...]]] = {
    Minor(1, 33): ("nothing for DRA yet: AKS does not serve the API group resource.k8s.io",),
    Minor(1, 34): (
        "the API resource.k8s.io/v1 appears: device classes, claims, claim templates, slices",
        "NVIDIA's DRA driver can be installed; AKS does not manage it yet",
    ),
    Minor(1, 35): (
        "AKS allows managed DRA pools (driverMode DRA)",
        f"the API server still drops without a word: {_DROPPED}",
    ),
    Minor(1, 36): (
        f"the API server stops dropping: {_DROPPED}",
        "claims of a device class with extendedResourceName also count against the quota of requests.<that name>",
    ),
    Minor(1, 37): ("device taint rules (DeviceTaintRule) are on and served as resource.k8s.io/v1",),
}
"""What arrives with the control plane of a minor."""

UPGRADING_CHANNELS: Final = ("patch", "stable", "rapid")
"""Auto-upgrade channels with which AKS moves the control plane and the pools together, and only together."""

SUPPORT_ENDS_SOON: Final = 90
"""Days before the end of support from which it is worth a warning."""


class Minutes(NamedTuple):
    """An estimate."""

    low: int
    high: int


CONTROL_PLANE: Final = Minutes(5, 20)
NODE: Final = Minutes(4, 12)
"""A node from its deletion until the new one is Ready."""
GPU_NODE: Final = Minutes(6, 20)
"""The same with a GPU driver to install."""
DRAIN_LOW: Final = 1
"""A node whose pods leave at once; the most is the pool's drain timeout."""
