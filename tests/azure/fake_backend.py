"""Machines that exist at once and only in memory, so that the tests of Azure's side take no time."""

import threading
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import httpx2
from lightkube import ApiError
from lightkube.models.core_v1 import NodeCondition, NodeSpec, NodeStatus, NodeSystemInfo
from lightkube.models.meta_v1 import ObjectMeta, Status
from lightkube.resources.core_v1 import Node, Pod

from twin.nodeplan import ClusterPlan, NodePlan

POOL_LABEL = "kubernetes.azure.com/agentpool"


def _refusal(code: int) -> ApiError:
    request = httpx2.Request("POST", "https://127.0.0.1")
    status = Status(code=code, message=f"refused with {code}")
    return ApiError(request, httpx2.Response(code, json=status.to_dict(), request=request))


class FakeClient:
    """The few calls that the Azure endpoint makes, answered from the plan."""

    def __init__(self, cluster: "FakeCluster") -> None:
        self._cluster = cluster

    def list(self, res: type, *, labels: Any = None, fields: Any = None, namespace: str | None = None) -> Iterable[Any]:
        if res is Node:
            return self._nodes(labels[POOL_LABEL])
        return [pod for pod in self._cluster.pods if pod.spec and pod.spec.nodeName == fields["spec.nodeName"]]

    def _nodes(self, pool: str) -> Iterator[Node]:
        for plan in self._cluster.plan.nodes:
            if plan.pool == pool:
                yield self._node(plan)

    def _node(self, plan: NodePlan) -> Node:
        ready = "False" if plan.pool in self._cluster.not_ready else "True"
        return Node(
            metadata=ObjectMeta(name=plan.name, labels=plan.labels),
            spec=NodeSpec(unschedulable=plan.name in self._cluster.cordoned),
            status=NodeStatus(
                conditions=[NodeCondition(type="Ready", status=ready)],
                nodeInfo=NodeSystemInfo(
                    architecture=plan.architecture,
                    bootID="",
                    containerRuntimeVersion="",
                    kernelVersion="",
                    kubeProxyVersion="",
                    kubeletVersion=plan.kubelet_version,
                    machineID="",
                    operatingSystem="linux",
                    osImage="",
                    systemUUID="",
                ),
            ),
        )

    def patch(self, res: type, name: str, body: dict[str, Any]) -> None:
        if "spec" in body:
            self._cluster.log.append(("cordon" if body["spec"]["unschedulable"] else "uncordon", name))
        else:
            self._cluster.log.append(("label", name))

    def create(self, eviction: Any, name: str, *, namespace: str) -> None:
        if name in self._cluster.guarded:
            raise _refusal(429)
        self._cluster.remove_pod(name)

    def delete(self, res: type, name: str, *, namespace: str) -> None:
        self._cluster.remove_pod(name)


class FakeCluster:
    """One cluster: its plan, its pods, and what was done to them."""

    def __init__(self) -> None:
        self.version = ""
        self.plan = ClusterPlan()
        self.plans: list[ClusterPlan] = []
        self.pods: list[Pod] = []
        self.guarded: set[str] = set()
        self.not_ready: set[str] = set()
        self.cordoned: set[str] = set()
        self.log: list[tuple[str, str]] = []

    def remove_pod(self, name: str) -> None:
        self.log.append(("evict", name))
        self.pods = [pod for pod in self.pods if pod.metadata and pod.metadata.name != name]


class FakeBackend:
    """Implements twin.arm.backend.ClusterBackend. `gate` closed holds every start of a control plane."""

    def __init__(self) -> None:
        self.clusters: dict[str, FakeCluster] = {}
        self.gate = threading.Event()
        self.gate.set()

    def ensure_control_plane(self, cluster_id: str, version: str) -> None:
        self.gate.wait(30)
        self.clusters.setdefault(cluster_id, FakeCluster()).version = version

    def remove_control_plane(self, cluster_id: str) -> None:
        self.clusters.pop(cluster_id, None)

    def set_plan(self, cluster_id: str, plan: ClusterPlan) -> None:
        cluster = self.clusters.setdefault(cluster_id, FakeCluster())
        cluster.plan = plan
        cluster.plans.append(plan)

    def kubeconfig(self, cluster_id: str, user: Literal["admin", "user"]) -> str:
        return f"kind: Config\nusers: [{{name: {user}}}]\n"

    def client(self, cluster_id: str) -> Any:
        return FakeClient(self.clusters[cluster_id])
