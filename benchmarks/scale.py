"""Many claims at once: 100 nodes of 8 GPUs, 800 pods with a claim each, bare and on the twin.

The bare control plane has the same Node objects and slices, and no kubelets: what the twin adds is the work
of `aksgpu-nodes`, whose status reports and events share the API server with the scheduler. Both are measured in
one run, over the same data, and compared as a ratio.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import lightkube
import psutil
import yaml
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import Namespace, Node, Pod

from twin import toolchain
from twin.controlplane import ControlPlane
from twin.nodeplan import ClusterPlan, GpuPlan, NodePlan

VERSION = "1.35.4"
NEEDED = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "aksgpu-nodes")
GOAL_RATIO = 1.3
GOAL_RESIDENT_MIB = 1229
"""1.2 GiB."""

Claim = create_namespaced_resource("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims")
Template = create_namespaced_resource("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates")
DeviceClass = create_global_resource("resource.k8s.io", "v1", "DeviceClass", "deviceclasses")
Slice = create_global_resource("resource.k8s.io", "v1", "ResourceSlice", "resourceslices")


@dataclass(frozen=True)
class Result:
    """What one run measured. Times in seconds, memory in MiB."""

    nodes: int
    claims: int
    bare_seconds: float
    twin_seconds: float
    ratio: float
    different_devices: int
    running_pods: int
    resident_mib: dict[str, int]

    @property
    def resident(self) -> int:
        """Resident memory of all processes of the twin's cluster, MiB."""
        return sum(self.resident_mib.values())

    @property
    def good(self) -> bool:
        """Whether every goal is met."""
        complete = self.different_devices == self.claims == self.running_pods
        return complete and self.ratio <= GOAL_RATIO and self.resident <= GOAL_RESIDENT_MIB


def plan(nodes: int, gpus: int) -> ClusterPlan:
    """Return a plan of equal GPU nodes."""
    gpu = GpuPlan(
        product="NVIDIA A100-SXM4-80GB",
        brand="Nvidia",
        architecture="Ampere",
        compute_capability="8.0.0",
        memory_mib=81920,
    )
    first = NodePlan(
        name="",
        pool="gpu",
        labels={"kubernetes.azure.com/agentpool": "gpu"},
        provider_id="",
        cpu="96",
        memory="1900Gi",
        allocatable_cpu="95",
        allocatable_memory="1800Gi",
        ephemeral_storage="1Ti",
        pods=250,
        kubelet_version=f"v{VERSION}",
        os_image="Ubuntu 22.04.5 LTS",
        kernel_version="5.15.0-1092-azure",
        container_runtime_version="containerd://1.7.28-1",
        gpu_mode="dra",
        driver_version="580.126.09",
        cuda_version="13.0",
        gpus=[gpu] * gpus,
    )
    names = [f"aks-gpu-{i:04d}" for i in range(nodes)]
    return ClusterPlan(
        nodes=[first.model_copy(update={"name": name, "provider_id": f"azure:///{name}"}) for name in names]
    )


def wait_for(what: str, condition: Callable[[], bool], seconds: float = 300) -> None:
    """Return when `condition` holds; raises TimeoutError when it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.1)


class Load:
    """A Deployment whose every pod has a claim of its own, in a namespace of its own."""

    def __init__(self, client: lightkube.Client, namespace: str, pods: int) -> None:
        self.client = client
        self.namespace = namespace
        self.pods = pods

    def prepare(self) -> None:
        """Create the namespace and the template."""
        request = {"name": "gpu", "exactly": {"deviceClassName": "scale", "allocationMode": "ExactCount", "count": 1}}
        self.client.create(Namespace.from_dict({"metadata": {"name": self.namespace}}))
        spec = {"spec": {"devices": {"requests": [request]}}}
        self.client.create(
            Template.from_dict({"metadata": {"name": "one-gpu", "namespace": self.namespace}, "spec": spec})
        )

    def bind(self) -> float:
        """Create the pods; returns the seconds until the last one is bound."""
        labels = {"app": "load"}
        pod = {
            "terminationGracePeriodSeconds": 0,
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
            "containers": [{"name": "c", "image": "example", "resources": {"claims": [{"name": "gpu"}]}}],
        }
        deployment = {
            "metadata": {"name": "load", "namespace": self.namespace},
            "spec": {
                "replicas": self.pods,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        }
        begun = time.monotonic()
        self.client.create(Deployment.from_dict(deployment))
        wait_for("binding the pods", self._all_bound)
        return time.monotonic() - begun

    def _all_bound(self) -> bool:
        status = self.client.get(Deployment, "load", namespace=self.namespace).status
        if not status or status.replicas != self.pods:
            return False
        waiting = self.client.list(Pod, namespace=self.namespace, fields={"spec.nodeName": ""}, chunk_size=500)
        return next(iter(waiting), None) is None

    def running(self) -> int:
        """Return how many pods are ready."""
        status = self.client.get(Deployment, "load", namespace=self.namespace).status
        return (status.readyReplicas or 0) if status else 0

    def devices(self) -> int:
        """Return how many different devices the claims hold."""
        held = set()
        for claim in self.client.list(Claim, namespace=self.namespace):
            status: dict[str, Any] = claim.to_dict().get("status") or {}
            for result in status.get("allocation", {}).get("devices", {}).get("results", []):
                held.add((result["pool"], result["device"]))
        return len(held)

    def remove(self) -> None:
        """Delete everything; returns when nothing is left."""
        self.client.delete(Namespace, self.namespace)

        def gone() -> bool:
            try:
                self.client.get(Namespace, self.namespace)
            except ApiError as error:
                return error.status.code == 404
            return False

        wait_for("deleting the load", gone)


@contextmanager
def cluster(folder: Path, tools: dict[str, Path]) -> Generator[tuple[ControlPlane, lightkube.Client]]:
    """Run a control plane over the data in `folder`."""
    plane = ControlPlane(folder, tools)
    plane.start(VERSION)
    try:
        config = lightkube.KubeConfig.from_dict(yaml.safe_load(plane.kubeconfig("admin")))
        yield plane, lightkube.Client(config=config)
    finally:
        plane.stop()


def resident_mib(plane: ControlPlane) -> dict[str, int]:
    """Return the resident memory of each process of a control plane, MiB."""
    return {name: psutil.Process(pid).memory_info().rss >> 20 for name, pid in plane.processes().items()}


def measure(folder: Path, nodes: int, gpus: int, rounds: int, report: Callable[[str], None]) -> Result:
    """Bind the same load without and with `aksgpu-nodes`, in turns; the median of the rounds counts."""
    tools = {name: tool.path for name, tool in toolchain.ensure(report, NEEDED).items() if tool.path}
    bare_tools = {name: path for name, path in tools.items() if name != "aksgpu-nodes"}
    claims = nodes * gpus
    folder.mkdir(parents=True, exist_ok=True)
    ControlPlane(folder, tools).set_plan(plan(nodes, gpus))
    with cluster(folder, tools) as (_, client):
        client.create(DeviceClass.from_dict({"metadata": {"name": "scale"}, "spec": {"selectors": [_all_gpus()]}}))
        wait_for("nodes", lambda: len(list(client.list(Node))) == nodes)
        wait_for("slices", lambda: len(list(client.list(Slice))) == nodes)
    measured = Result(nodes, claims, 0, 0, 0, 0, 0, {})
    bare_times, twin_times = [], []
    for turn in range(rounds):
        with cluster(folder, bare_tools) as (_, client):
            load = Load(client, f"bare-{turn}", claims)
            load.prepare()
            bare_times.append(load.bind())
            report(f"bare: {claims} claims bound in {bare_times[-1]:.1f} s")
        # Only kubelets can end pods. A session of its own, so that cleaning up weighs on neither side.
        with cluster(folder, tools) as (_, client):
            Load(client, f"bare-{turn}", claims).remove()
        with cluster(folder, tools) as (plane, client):
            load = Load(client, f"twin-{turn}", claims)
            load.prepare()
            twin_times.append(load.bind())
            report(f"twin: {claims} claims bound in {twin_times[-1]:.1f} s")
            wait_for("running pods", lambda load=load: load.running() == claims)
            measured = replace(
                measured,
                different_devices=load.devices(),
                running_pods=load.running(),
                resident_mib=resident_mib(plane),
            )
            load.remove()
    bare, twin = statistics.median(bare_times), statistics.median(twin_times)
    return replace(measured, bare_seconds=bare, twin_seconds=twin, ratio=twin / bare)


def _all_gpus() -> dict[str, Any]:
    return {"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}


def table(result: Result) -> str:
    """Return the result for people."""
    rows = [
        (f"{result.claims} claims on {result.nodes} nodes, bare", f"{result.bare_seconds:.1f} s", ""),
        ("the same with the simulated kubelets", f"{result.twin_seconds:.1f} s", ""),
        ("ratio", f"{result.ratio:.2f}", f"goal: at most {GOAL_RATIO}"),
        ("different devices", str(result.different_devices), f"goal: {result.claims}"),
        ("running pods", str(result.running_pods), f"goal: {result.claims}"),
        ("resident memory", f"{result.resident} MiB", f"goal: at most {GOAL_RESIDENT_MIB} MiB"),
        *((f"  {name}", f"{size} MiB", "") for name, size in result.resident_mib.items()),
    ]
    return "\n".join(f"{what:<42}{value:>10}   {goal}".rstrip() for what, value, goal in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0 when the goals are met, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--gpus", type=int, default=8, help="GPUs per node")
    parser.add_argument("--rounds", type=int, default=1, help="how often each side is measured")
    parser.add_argument("--json", action="store_true", help="print JSON and not a table")
    chosen = parser.parse_args(arguments)

    def report(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="aksgpu-scale-") as folder:
        result = measure(Path(folder) / "cluster", chosen.nodes, chosen.gpus, chosen.rounds, report)
    print(json.dumps({**asdict(result), "good": result.good}) if chosen.json else table(result))
    return 0 if result.good else 1


if __name__ == "__main__":
    sys.exit(main())
