"""What the Azure endpoint needs from the machines behind it."""

from typing import Literal, Protocol

from lightkube import Client

from twin.nodeplan import ClusterPlan


class ClusterBackend(Protocol):
    """Control planes and nodes. `cluster_id` is always the lower-cased ARM id of the managedCluster."""

    def ensure_control_plane(self, cluster_id: str, version: str) -> None:
        """Have a control plane of this version (`1.35.4`) run; blocks until its API server is ready."""

    def remove_control_plane(self, cluster_id: str) -> None:
        """Stop the cluster's control plane and forget its data; nothing happens when there is none."""

    def set_plan(self, cluster_id: str, plan: ClusterPlan) -> None:
        """Have exactly these nodes."""

    def kubeconfig(self, cluster_id: str, user: Literal["admin", "user"]) -> str:
        """Return a kubeconfig (YAML)."""
        ...

    def client(self, cluster_id: str) -> Client:
        """Return a client with the rights of an administrator."""
        ...
