"""What nodes a cluster should have: written by the Azure endpoint, carried out by the simulated kubelets.

The plan is one JSON file per cluster, replaced atomically. It is the whole truth: a node that is no longer
in it is gone. `twin/nodes` (Go) reads the same keys.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

GpuMode = Literal["dra", "device-plugin", "driver-only", "driverless", "none"]
"""How a node offers its GPUs: ResourceSlices, `nvidia.com/gpu`, a driver without either, not even a driver,
or no GPUs at all."""


class _Plan(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


class GpuPlan(_Plan):
    """One GPU of a node, as `nvidia-smi` and a ResourceSlice describe it."""

    product: str
    """Product name, e.g. `NVIDIA A100 80GB PCIe`."""
    brand: str
    architecture: str
    compute_capability: str
    """Semantic version, e.g. `8.0.0`."""
    memory_mib: int
    """Total memory that nvidia-smi reports, MiB."""


class TaintPlan(_Plan):
    """A taint of the pool."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class NodePlan(_Plan):
    """One node that should exist."""

    name: str
    pool: str
    """The AKS node pool."""
    labels: dict[str, str]
    taints: list[TaintPlan] = Field(default_factory=list)
    provider_id: str
    cpu: str
    """Kubernetes quantity: capacity."""
    memory: str
    """Kubernetes quantity: capacity."""
    allocatable_cpu: str
    allocatable_memory: str
    ephemeral_storage: str
    pods: int
    architecture: Literal["amd64", "arm64"] = "amd64"
    kubelet_version: str
    """With the leading v, e.g. `v1.35.4`."""
    os_image: str
    kernel_version: str
    container_runtime_version: str
    gpu_mode: GpuMode = "none"
    driver_version: str = ""
    cuda_version: str = ""
    gpus: list[GpuPlan] = Field(default_factory=list)


class ClusterPlan(_Plan):
    """All nodes of a cluster, and the faults that its nodes should show."""

    nodes: list[NodePlan] = Field(default_factory=list)
    faults: dict[str, str | None] = Field(default_factory=dict)
    """Node faults that are on (node-not-ready, no-slices, incomplete-pool, stale-generation, tainted-devices,
    prepare-fails, image-pull), each with an optional pool name; None means every pool."""
