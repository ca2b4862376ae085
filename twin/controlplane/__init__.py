"""A real Kubernetes control plane on loopback, emulating the minor version of the cluster it stands for."""

from twin.controlplane.control_plane import ControlPlane

__all__ = ["ControlPlane"]
