"""An AKS node pool."""

from typing import Literal

from aksgpu.facts.base import Facts, Malformed, Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.nodes import Taint
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, equals


class PoolForm(Facts):
    """How a pool was written down; decides which of its fields ever reach Azure."""

    kind: Literal[
        "typed", "versioned", "parameterised", "generic", "inline", "settings", "live", "template", "classic", "cli"
    ]
    token: str = ""
    """The Pulumi type."""
    api_version: Maybe[str] = None
    """The Azure api-version its request uses; None when it is not sent as written."""


class PoolFacts(Facts):
    """A node pool as it is asked for or as it is. Enum values are spelt as in the REST API."""

    place: Place
    form: PoolForm
    cluster: ClusterRef = ClusterRef()
    name: Maybe[str] = None
    vm_size: Maybe[str] = None
    os_type: Maybe[str] = None
    """Linux (the default) or Windows."""
    os_sku: Maybe[str] = None
    kubernetes_version: Maybe[str] = None
    """`orchestratorVersion`; None follows the cluster."""
    mode: Maybe[str] = None
    """System or User."""
    scale_set_priority: Maybe[str] = None
    """Regular (the default) or Spot."""
    max_surge: Maybe[str] = None
    """`upgradeSettings.maxSurge`: a number or a percentage, as text."""
    max_unavailable: Maybe[str] = None
    count: Maybe[int] = None
    autoscaling: Maybe[bool] = None
    gpu_driver: Maybe[str] = None
    """`gpuProfile.driver`: Install (the default) or None, as text."""
    management_mode: Maybe[str] = None
    """`gpuProfile.nvidia.managementMode`: Managed or Unmanaged (what a pool is without it)."""
    driver_mode: Maybe[str] = None
    """`gpuProfile.nvidia.driverMode`: DevicePlugin (what a managed pool is without it) or DRA."""
    mig_strategy: Maybe[str] = None
    """`gpuProfile.nvidia.migStrategy`: None (the default), Single or Mixed, as text."""
    mig_profiles: Maybe[tuple[str, ...]] = None
    gpu_instance_profile: Maybe[str] = None
    labels: Maybe[dict[str, str]] = None
    taints: Maybe[tuple[Taint, ...]] = None
    vm_tags: Maybe[dict[str, str]] = None
    malformed: tuple[Malformed, ...] = ()

    @property
    def label(self) -> str:
        """The pool in a sentence: its name, or where it was written when the name isn't known."""
        return self.name if isinstance(self.name, str) else self.place.object

    def is_managed(self) -> Truth:
        """Tell whether AKS manages the GPU software; only an explicit Managed does."""
        return equals(self.management_mode, "Managed")

    def asks_for_dra(self) -> Truth:
        """Tell whether the driver mode DRA was asked for, whatever else contradicts it."""
        return equals(self.driver_mode, "DRA")

    def asks_for_gpu(self) -> Truth:
        """Tell whether any managed GPU setting was written, so that the pool is meant to have GPUs."""
        if self.management_mode is UNKNOWN or self.driver_mode is UNKNOWN:
            return UNKNOWN
        return self.is_managed() is True or self.driver_mode is not None


class PoolChange(Facts):
    """One pool before and after a change that keeps the pool (not a replacement)."""

    before: PoolFacts
    after: PoolFacts
