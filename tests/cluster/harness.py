"""A real control plane with simulated nodes, and kubectl on it."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from twin import toolchain
from twin.controlplane import ControlPlane
from twin.nodeplan import ClusterPlan, GpuMode, GpuPlan, NodePlan

NEEDED = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl", "aksgpu-nodes")
Result = TypeVar("Result")
A100 = GpuPlan(
    product="NVIDIA A100 80GB PCIe",
    brand="Nvidia",
    architecture="Ampere",
    compute_capability="8.0.0",
    memory_mib=81920,
)
DEVICE_CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: aks-dra-gpu}
spec:
  selectors:
  - cel:
      expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
"""


def node(name: str, pool: str, mode: GpuMode = "dra", gpus: int = 1, **changes: Any) -> NodePlan:
    """Return a node of an AKS pool."""
    labels = {
        "agentpool": pool,
        "kubernetes.azure.com/agentpool": pool,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    if gpus:
        labels["kubernetes.azure.com/accelerator"] = "nvidia"
    if mode in ("dra", "device-plugin"):
        labels["kubernetes.azure.com/dcgm-exporter"] = "enabled"
    fields: dict[str, Any] = {
        "name": name,
        "pool": pool,
        "labels": labels,
        "provider_id": f"azure:///subscriptions/s/virtualMachines/{name}",
        "cpu": "24",
        "memory": "220Gi",
        "allocatable_cpu": "23800m",
        "allocatable_memory": "210Gi",
        "ephemeral_storage": "128Gi",
        "pods": 110,
        "kubelet_version": "v1.35.4",
        "os_image": "Ubuntu 22.04.5 LTS",
        "kernel_version": "5.15.0-1092-azure",
        "container_runtime_version": "containerd://1.7.28-1",
        "gpu_mode": mode,
        "driver_version": "580.126.09",
        "cuda_version": "13.0",
        "gpus": [A100] * gpus,
    }
    return NodePlan(**(fields | changes))


def eventually(condition: Callable[[], Result], what: str = "this", seconds: float = 60) -> Result:
    """Return the first true value of `condition`; fails when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not come true, last value {value!r}"
        time.sleep(0.1)


@dataclass
class Cluster:
    """A running control plane; `nodes` is what it was last planned to have."""

    plane: ControlPlane
    folder: Path
    tools: Mapping[str, Path]
    nodes: list[NodePlan] = field(default_factory=list)

    def plan(self, nodes: list[NodePlan], faults: dict[str, str | None] | None = None) -> None:
        """Give the cluster exactly these nodes; returns once they are there and the faults have been taken up."""
        self.nodes = nodes
        self.plane.set_plan(ClusterPlan(nodes=nodes, faults=faults or {}))
        wanted = {node.name for node in nodes}
        eventually(lambda: {item["metadata"]["name"] for item in self.items("nodes")} == wanted, f"nodes {wanted}")

    @contextmanager
    def fault(self, name: str, pool: str | None = None) -> Generator[None]:
        """Have the nodes show a fault."""
        self.plan(self.nodes, {name: pool})
        try:
            yield
        finally:
            self.plan(self.nodes)

    def start(self, version: str) -> None:
        """Start the control plane, or bring it to another version."""
        self.plane.start(version)
        self.kubeconfig.write_text(self.plane.kubeconfig("admin"))

    @property
    def kubeconfig(self) -> Path:
        return self.folder.with_suffix(".kubeconfig")

    @property
    def environment(self) -> dict[str, str]:
        """Variables for kubectl and the shell commands of a document."""
        path = f"{self.tools['kubectl'].parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "PATH": path}

    def run(
        self, *arguments: str, given: str | None = None, ok: bool | None = True
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl; `given` is its standard input, `ok` whether it must succeed (None: either)."""
        done = subprocess.run(
            [self.tools["kubectl"], *arguments],
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if ok is not None:
            assert (done.returncode == 0) is ok, f"kubectl {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        """Run kubectl and return what it prints."""
        return self.run(*arguments, given=given).stdout

    def apply(self, manifest: str) -> None:
        """Apply YAML."""
        self.kubectl("apply", "-f", "-", given=manifest)

    def refused(self, manifest: str) -> str:
        """Apply YAML that the API server has to refuse; returns why."""
        return self.run("apply", "-f", "-", given=manifest, ok=False).stderr

    def get(self, *arguments: str) -> Any:
        """Return an object."""
        options = () if "--raw" in arguments else ("-o", "json")
        return json.loads(self.kubectl("get", *arguments, *options))

    def items(self, *arguments: str) -> list[Any]:
        """Return a list of objects."""
        return list(self.get(*arguments)["items"])

    def events(self, namespace: str, name: str) -> list[tuple[str, str]]:
        """Return reason and message of an object's events."""
        found = self.items("events", "-n", namespace, f"--field-selector=involvedObject.name={name}")
        return [(event["reason"], event["message"]) for event in found]

    def wait_event(self, namespace: str, name: str, reason: str) -> str:
        """Return the message of an object's event of that reason, once it is there."""

        def message() -> str:
            return next((text for kind, text in self.events(namespace, name) if kind == reason), "")

        return eventually(message, f"event {reason} of {namespace}/{name}")

    def pod(self, namespace: str, name: str) -> Any:
        return self.get("pod", name, "-n", namespace)

    def wait_phase(self, namespace: str, name: str, phase: str) -> Any:
        """Return a pod once it is in a phase."""
        self.kubectl(
            "wait", f"--for=jsonpath={{.status.phase}}={phase}", f"pod/{name}", "-n", namespace, "--timeout=60s"
        )
        return self.pod(namespace, name)


@contextmanager
def running(folder: Path, version: str, nodes: list[NodePlan]) -> Generator[Cluster]:
    """Run a cluster with the given nodes."""
    tools = {name: tool.path for name, tool in toolchain.ensure(print, NEEDED).items() if tool.path}
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(ControlPlane(folder, tools), folder, tools)
    try:
        cluster.plane.set_plan(ClusterPlan(nodes=nodes))
        cluster.start(version)
        cluster.plan(nodes)
        yield cluster
    finally:
        cluster.plane.stop()
