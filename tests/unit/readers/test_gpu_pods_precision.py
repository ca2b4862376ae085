"""What is taken for an advertiser, and what only speaks of one."""

from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.readers.gpu_pods import POD_SPECS, read_workload

PLUGINS = "/var/lib/kubelet/device-plugins"


def _pod(
    image: str, command: list[str] | None = None, args: list[str] | None = None, path: str | None = None
) -> dict[str, Any]:
    container = {"name": "c", "image": image, **({"command": command} if command else {}), "args": args or []}
    volumes = [{"name": "v", "hostPath": {"path": path}}] if path else []
    return {"containers": [container], "volumes": volumes}


def _advertises(kind: str, pod: dict[str, Any], name: str = "x") -> bool:
    spec: object = pod
    for key in reversed(POD_SPECS[kind].split(".")):
        spec = {key: spec}
    assert isinstance(spec, dict)
    data = {**spec, "metadata": {"name": name, "namespace": "n"}}
    found = read_workload(kind, Place(object="x"), data, ClusterRef(), None).components
    return any(component.device_plugin is True or component.dra is True for component in found)


@pytest.mark.parametrize(
    ("kind", "pod"),
    [
        ("Job", _pod("bitnami/kubectl", ["kubectl", "delete", "daemonset", "nvidia-device-plugin-daemonset"])),
        ("CronJob", _pod("bitnami/kubectl", ["kubectl", "rollout", "restart", "ds/gpu-device-plugin"])),
        ("Deployment", _pod("kube-state-metrics:2", None, ["--metric-allow=nvidia-device-plugin"])),
        ("DaemonSet", _pod("squat/generic-device-plugin:latest", path=PLUGINS)),
        ("DaemonSet", _pod("acme/reader:1", path=f"{PLUGINS}/kubelet_internal_checkpoint")),
        ("DaemonSet", _pod("nvcr.io/nvidia/k8s-device-plugin:v0.17.0", ["mps-control-daemon"])),
        ("DaemonSet", _pod("nvcr.io/nvidia/k8s-device-plugin:v0.17.0", ["/usr/bin/gpu-feature-discovery"])),
        ("DaemonSet", _pod("acme/csi-driver:1", path="/var/lib/kubelet/plugins/csi.example.com")),
        ("DaemonSet", _pod("acme/csi-driver:1", path="/var/lib/kubelet")),
        ("DaemonSet", _pod("intel/intel-gpu-device-plugin:0.30", path=PLUGINS)),
    ],
)
def test_what_advertises_no_nvidia_gpu(kind: str, pod: dict[str, Any]) -> None:
    assert not _advertises(kind, pod)


@pytest.mark.parametrize(
    ("name", "pod"),
    [
        ("x", _pod("nvcr.io/nvidia/k8s-device-plugin:v0.17.0")),
        ("x", _pod("contosointelligence.azurecr.io/nvidia/k8s-device-plugin@sha256:0")),
        ("x", _pod("acrnetworkprod.azurecr.io/nvidia/k8s-device-plugin:1")),
        ("x", _pod("localhost:5000/mirror/nvidia_device_plugin:1")),
        ("x", _pod("acme/base:1", ["sh", "-c", "exec nvidia-device-plugin --pass-device-specs"])),
        ("gpu-diffuser-plugin", _pod("acme/renamed:1", path=PLUGINS)),
        ("x", _pod("acme/renamed:1", path=f"{PLUGINS}/")),
        ("x", _pod("acme/driver:1", ["/usr/bin/gpu-kubelet-plugin"])),
        ("x", _pod("acme/renamed:1", path="/var/lib/kubelet/plugins/gpu.nvidia.com")),
        (
            "x",
            {
                "containers": [
                    {"name": "c", "image": "acme/a:1", "volumeMounts": [{"name": "v", "subPath": "device-plugins"}]}
                ],
                "volumes": [{"name": "v", "hostPath": {"path": "/var/lib/kubelet"}}],
            },
        ),
    ],
)
def test_what_advertises(name: str, pod: dict[str, Any]) -> None:
    assert _advertises("DaemonSet", pod, name)


def test_another_container_does_not_hide_a_plugin() -> None:
    pod = _pod("nvcr.io/nvidia/k8s-device-plugin:v0.17.0")
    pod["initContainers"] = [{"name": "wait", "image": "reg/network-wait:1"}]
    assert _advertises("DaemonSet", pod)
