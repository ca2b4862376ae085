"""Pulumi components for GPUs on AKS by dynamic resource allocation; each is usable alone and from every language."""

from components.claim import GpuClaim
from components.claim_template import GpuClaimTemplate
from components.cluster import Cluster
from components.device_class import GpuDeviceClass
from components.gpu_admission import GpuAdmission
from components.namespace import GpuNamespace
from components.node_pool import NodePool
from components.preview_feature import PreviewFeature
from components.validation_job import ValidationJob

__all__ = [
    "Cluster",
    "GpuAdmission",
    "GpuClaim",
    "GpuClaimTemplate",
    "GpuDeviceClass",
    "GpuNamespace",
    "NodePool",
    "PreviewFeature",
    "ValidationJob",
]
