"""What the simulated AKS does through the Kubernetes API: wait for nodes, cordon and drain them."""

from collections.abc import Callable
from typing import Any

from lightkube import ApiError, Client
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node, Pod

from twin.arm.errors import ArmError
from twin.arm.operations import Progress

_POOL_LABEL = "kubernetes.azure.com/agentpool"
_MIRROR = "kubernetes.io/config.mirror"

Evict = Callable[[Client, str, str], str]
"""Tries to remove one pod (namespace, name); returns the pod's name when that is refused, else an empty text."""


def nodes(client: Client, pool: str) -> dict[str, tuple[bool, str]]:
    """Return the nodes of a pool, name to (Ready, kubelet version)."""
    found = client.list(Node, labels={_POOL_LABEL: pool})
    return {_name(node): (_is_ready(node), _kubelet(node)) for node in found}


def _name(item: Any) -> str:  # noqa: ANN401 - a lightkube resource
    return item.metadata.name


def _kubelet(node: Node) -> str:
    info = node.status.nodeInfo if node.status else None
    return info.kubeletVersion if info else ""


def _is_ready(node: Node) -> bool:
    conditions = (node.status.conditions if node.status else None) or []
    return any(condition.type == "Ready" and condition.status == "True" for condition in conditions)


def cordon(client: Client, node: str, *, on: bool = True) -> bool:
    """Make a node unschedulable or schedulable; True also when it is gone."""
    try:
        client.patch(Node, node, {"spec": {"unschedulable": on}})
    except ApiError as error:
        if error.status.code != 404:
            raise
    return True


def quarantine(client: Client, node: str) -> None:
    """Mark a node that could not be drained, as AKS does."""
    client.patch(Node, node, {"metadata": {"labels": {"kubernetes.azure.com/upgrade-status": "Quarantined"}}})


def drain(client: Client, node: str, progress: Progress, seconds: float, evict: Evict) -> None:
    """Empty a node: `evict` its pods again and again until none is left.

    Pods of DaemonSets, mirror pods and finished pods stay. Raises ArmError (UpgradeFailed) after `seconds`,
    naming a pod in the way.
    """
    refused = ""

    def gone() -> bool:
        nonlocal refused
        pods = _movable(client, node)
        for pod in pods:
            if pod.metadata and not pod.metadata.deletionTimestamp:
                refused = evict(client, pod.metadata.namespace or "", pod.metadata.name or "") or refused
        return not pods

    if progress.until(gone, seconds):
        return
    raise ArmError(
        409,
        "UpgradeFailed",
        f"Drain node {node} failed when evicting pod {refused or 'that does not end'}. Cannot evict pod as it "
        "would violate the pod's disruption budget. See https://aka.ms/aks/debugdrainfailures for more details.",
    )


def _movable(client: Client, node: str) -> list[Pod]:
    pods = client.list(Pod, namespace="*", fields={"spec.nodeName": node})
    return [pod for pod in pods if not _stays(pod)]


def _stays(pod: Pod) -> bool:
    metadata = pod.metadata
    phase = pod.status.phase if pod.status else None
    if metadata is None or phase in ("Succeeded", "Failed"):
        return True
    owners = metadata.ownerReferences or []
    return _MIRROR in (metadata.annotations or {}) or any(owner.kind == "DaemonSet" for owner in owners)


def evict(client: Client, namespace: str, name: str) -> str:
    """Ask the eviction API for one pod; return the pod's name when a disruption budget refuses."""
    eviction = Pod.Eviction(metadata=ObjectMeta(name=name, namespace=namespace))
    try:
        client.create(eviction, name, namespace=namespace)
    except ApiError as error:
        if error.status.code == 429:
            return f"{namespace}/{name}"
        if error.status.code != 404:
            raise
    return ""


def delete_pod(client: Client, namespace: str, name: str) -> str:
    """Delete a pod whatever its disruption budget says: a forced upgrade."""
    try:
        client.delete(Pod, name, namespace=namespace)
    except ApiError as error:
        if error.status.code != 404:
            raise
    return ""


def refuse(_client: Client, namespace: str, name: str) -> str:
    """Behave as if a disruption budget forbade the eviction: the fault drain-blocked."""
    return f"{namespace}/{name}"
