"""Kubernetes on AKS: versions, support windows, and how far DRA is in each minor.

Sources: learn.microsoft.com/azure/aks/supported-kubernetes-versions (2026-08-05; dates of 1.37 were forecasts) and
`pkg/features/kube_features.go` of Kubernetes 1.33 to 1.37.
"""

import re
from datetime import date
from typing import Final, Literal, NamedTuple

AS_OF: Final = date(2026, 8, 5)

DraStage = Literal["absent", "beta-off", "stable"]
"""Whether the apiserver serves the group resource.k8s.io: not on AKS, only behind a gate, or always as v1."""


class Minor(NamedTuple):
    """A minor version such as 1.35."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Release(NamedTuple):
    """The life of a minor on AKS; a month means its last day."""

    minor: Minor
    preview: date
    available: date
    end_of_life: date
    lts_end_of_life: date
    dra: DraStage


MANAGED_DRA_MINIMUM: Final = Minor(1, 35)
"""AKS: managed DRA pools need 1.35 or later."""

GPU_STACK_MINIMUM: Final = Minor(1, 34)
"""NVIDIA's stack: its DRA driver needs the API resource.k8s.io/v1, which Kubernetes serves from 1.34 on."""

MAX_MINORS_BEHIND: Final = 3
"""How far the nodes of a pool may be behind the control plane; they are never ahead of it."""

SUPPORT_PLANS: Final = ("KubernetesOfficial", "AKSLongTermSupport")

RELEASES: Final = (
    Release(Minor(1, 32), date(2025, 2, 28), date(2025, 4, 30), date(2026, 3, 31), date(2027, 3, 31), "beta-off"),
    Release(Minor(1, 33), date(2025, 5, 31), date(2025, 6, 30), date(2026, 7, 31), date(2027, 7, 31), "beta-off"),
    Release(Minor(1, 34), date(2025, 10, 31), date(2025, 11, 30), date(2026, 11, 30), date(2027, 11, 30), "stable"),
    Release(Minor(1, 35), date(2026, 2, 28), date(2026, 3, 31), date(2027, 3, 31), date(2028, 3, 31), "stable"),
    Release(Minor(1, 36), date(2026, 5, 31), date(2026, 6, 30), date(2027, 6, 30), date(2028, 6, 30), "stable"),
    Release(Minor(1, 37), date(2026, 9, 30), date(2026, 10, 31), date(2027, 10, 31), date(2028, 10, 31), "stable"),
)

_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?")


def parse_minor(text: str) -> Minor | None:
    """Read the minor out of `1.35`, `1.35.4` or `v1.35.4`; None when it is no version."""
    match = _VERSION.fullmatch(text.strip())
    return Minor(int(match[1]), int(match[2])) if match else None


def parse_patch(text: str) -> int | None:
    """Read the patch out of `1.35.4`; None for `1.35`, which leaves it to AKS."""
    match = _VERSION.fullmatch(text.strip())
    return int(match[3]) if match and match[3] else None


def is_older(version: str, than: str) -> bool:
    """Compare two versions; a patch counts only when both name one."""
    minors, patches = (parse_minor(version), parse_minor(than)), (parse_patch(version), parse_patch(than))
    if minors[0] is None or minors[1] is None or minors[0] != minors[1]:
        return minors[0] is not None and minors[1] is not None and minors[0] < minors[1]
    return patches[0] is not None and patches[1] is not None and patches[0] < patches[1]


def release(minor: Minor) -> Release | None:
    """Return what the table knows about a minor."""
    return next((entry for entry in RELEASES if entry.minor == minor), None)
