"""The stand-in for Azure Resource Manager: the parts of it that AKS clusters and GPU node pools need."""

from twin.arm.app import create_app
from twin.arm.backend import ClusterBackend

__all__ = ["ClusterBackend", "create_app"]
