"""The real control plane: its versions, its data over upgrades, and what happens when its parts die."""

import base64
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
import yaml

from twin import toolchain
from twin.controlplane import ControlPlane, ports
from twin.errors import TwinError
from twin.nodeplan import ClusterPlan, NodePlan

NEEDED = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "aksgpu-nodes")


@pytest.fixture(scope="module")
def tools() -> dict[str, Path]:
    return {name: tool.path for name, tool in toolchain.ensure(print, NEEDED).items() if tool.path}


@pytest.fixture(scope="module")
def plane(tools: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    plane = ControlPlane(tmp_path_factory.mktemp("clusters") / "shared", tools)
    plane.start("1.35.4")
    yield plane
    plane.stop()


class Api:
    """Plain requests to the API server, as the holder of a kubeconfig sends them."""

    def __init__(self, plane: ControlPlane, folder: Path, token: str | None = None) -> None:
        config = yaml.safe_load(plane.kubeconfig("user"))
        authority, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        context = ssl.create_default_context(cadata=base64.b64decode(authority["certificate-authority-data"]).decode())
        headers = {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        else:
            pair = folder / "client.pem"
            pair.write_bytes(
                base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"])
            )
            context.load_cert_chain(pair)
        self.http = httpx2.Client(base_url=authority["server"], verify=context, headers=headers, timeout=10)

    def get(self, path: str) -> Any:
        return self.http.get(path).raise_for_status().json()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self.http.post(path, json=body).raise_for_status().json()


@pytest.fixture
def api(plane: ControlPlane, tmp_path: Path) -> Api:
    return Api(plane, tmp_path)


def eventually(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this did not come true"
        time.sleep(0.05)


def quietly(call: Callable[[], object]) -> object:
    try:
        return call()
    except httpx2.HTTPError:
        return None


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"kept": "yes"}}


def test_an_upgrade_keeps_data_and_changes_what_is_served(tools: dict[str, Path], tmp_path: Path) -> None:
    plane = ControlPlane(tmp_path / "upgraded", tools)
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "spec": {"extendedResourceName": "example.com/gpu"},
    }
    classes = "/apis/resource.k8s.io/v1/deviceclasses"
    seen = {}
    try:
        for version in ("1.33.7", "1.35.4", "1.36.2"):
            plane.start(version)
            api = Api(plane, tmp_path)
            answer = api.get("/version")
            assert (answer["gitVersion"], answer["minor"]) == (f"v{version}", version.split(".")[1])
            served = {group["name"] for group in api.get("/apis")["groups"]}
            if version == "1.33.7":
                assert "resource.k8s.io" not in served
                api.post("/api/v1/namespaces/default/configmaps", config_map("from-before"))
                continue
            assert api.get("/api/v1/namespaces/default/configmaps/from-before")["data"] == {"kept": "yes"}
            name = f"made-at-{version}"
            seen[version] = api.post(classes, {**device_class, "metadata": {"name": name}})["spec"]
    finally:
        plane.stop()
    assert seen == {"1.35.4": {}, "1.36.2": {"extendedResourceName": "example.com/gpu"}}
    assert plane.version == "1.36.2"


def test_pods_can_be_created_at_once_and_their_tokens_mean_little(
    plane: ControlPlane, api: Api, tmp_path: Path
) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "first"},
        "spec": {"containers": [{"name": "c", "image": "example.com/i"}]},
    }
    created = api.post("/api/v1/namespaces/default/pods", pod)
    assert created["spec"]["serviceAccountName"] == "default"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = api.post("/api/v1/namespaces/default/serviceaccounts/default/token", request)["status"]["token"]
    stranger = Api(plane, tmp_path, token)
    assert stranger.http.get("/api/v1/namespaces/default/secrets").status_code == 403
    assert stranger.get("/version")["gitVersion"] == "v1.35.4"
    nobody = httpx2.Client(base_url=plane.server, verify=False)
    assert nobody.get("/api/v1/namespaces").status_code == 403


def test_scheduler_controllers_and_kubelets_work(plane: ControlPlane, api: Api) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"app": "d"}},
            "template": {
                "metadata": {"labels": {"app": "d"}},
                "spec": {"containers": [{"name": "c", "image": "example.com/i", "command": ["sleep", "inf"]}]},
            },
        },
    }
    plane.set_plan(
        ClusterPlan(
            nodes=[
                NodePlan(
                    name="n",
                    pool="nodepool1",
                    labels={},
                    provider_id="azure:///n",
                    cpu="4",
                    memory="16Gi",
                    allocatable_cpu="3",
                    allocatable_memory="12Gi",
                    ephemeral_storage="100Gi",
                    pods=30,
                    kubelet_version="v1.35.4",
                    os_image="Ubuntu",
                    kernel_version="6.8",
                    container_runtime_version="containerd://2.0",
                )
            ]
        )
    )
    api.post("/apis/apps/v1/namespaces/default/deployments", deployment)
    pods = "/api/v1/namespaces/default/pods"
    ready = "/apis/apps/v1/namespaces/default/deployments/d"
    eventually(lambda: api.get(ready)["status"].get("readyReplicas") == 1)
    pod = api.get(f"{pods}?labelSelector=app%3Dd")["items"][0]
    assert pod["spec"]["nodeName"] == "n"
    # The API server reaches the kubelet, and both know each other by their certificates.
    assert api.http.get(f"{pods}/{pod['metadata']['name']}/log").is_success


@pytest.mark.parametrize("part", NEEDED)
def test_a_killed_part_comes_back(plane: ControlPlane, api: Api, part: str) -> None:
    api.post("/api/v1/namespaces/default/configmaps", config_map(f"before-{part}"))
    before = plane.processes()
    psutil.Process(before[part]).kill()
    eventually(lambda: part not in plane.processes())
    lines: list[str] = []
    eventually(lambda: lines.extend(plane.tend()) or plane.processes().keys() == before.keys())
    assert [line.split()[0] for line in lines] == [part]
    assert plane.processes()[part] != before[part]
    eventually(lambda: quietly(lambda: api.get(f"/api/v1/namespaces/default/configmaps/before-{part}")))
    assert plane.tend() == []


def test_a_held_api_server_stays_away(plane: ControlPlane, api: Api) -> None:
    plane.hold_apiserver(held=True)
    assert plane.tend() == []
    assert "kube-apiserver" not in plane.processes()
    with pytest.raises(httpx2.ConnectError):
        api.get("/version")
    plane.hold_apiserver(held=False)
    assert plane.tend()
    eventually(lambda: quietly(lambda: api.http.get("/readyz").is_success))


def test_starting_again_is_nothing_new(plane: ControlPlane) -> None:
    before = plane.processes()
    plane.start("1.35.4")
    assert plane.processes() == before


def test_stop_leaves_nothing_and_start_finds_address_and_data(tools: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "stopped"
    plane = ControlPlane(folder, tools)
    try:
        plane.start("1.35.4")
        server = plane.server
        Api(plane, tmp_path).post("/api/v1/namespaces/default/configmaps", config_map("kept"))
        started = list(plane.processes().values())
        plane.stop()
        assert plane.processes() == {}
        assert all(gone(pid) for pid in started)
        for port in json.loads((folder / "ports.json").read_text()).values():
            socket.create_server(("127.0.0.1", port)).close()
        assert not list((folder / "run").iterdir())
        again = ControlPlane(folder, tools)
        again.start("1.35.4")
        assert again.server == server
        assert Api(again, tmp_path).get("/api/v1/namespaces/default/configmaps/kept")
        again.stop()
    finally:
        plane.stop()
    plane.destroy()
    assert not folder.exists()


def test_a_taken_port_is_named(tools: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_PATIENCE_SECONDS", 0.1)
    folder = tmp_path / "taken"
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        (folder / "ports.json").write_text(json.dumps({"apiserver": port, "etcd": 1, "kubelets": 2}))
        plane = ControlPlane(folder, tools)
        with pytest.raises(TwinError, match=f"Port {port}, on which the API server"):
            plane.start("1.35.4")
    assert plane.processes() == {}


@pytest.mark.parametrize(
    ("version", "complaint"),
    [("1.35", "not a full Kubernetes version"), ("1.20.3", "emulation version 1.20 is not between")],
)
def test_a_version_that_cannot_run_is_refused(
    tools: dict[str, Path], tmp_path: Path, version: str, complaint: str
) -> None:
    plane = ControlPlane(tmp_path / "old", tools)
    with pytest.raises(TwinError, match=complaint):
        plane.start(version)
    assert plane.processes() == {}


def test_a_killed_daemon_takes_its_control_plane_along(tools: dict[str, Path], tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import json, sys, time
        from pathlib import Path
        from twin.controlplane import ControlPlane, ports
        folder, tools = json.loads(sys.argv[1])
        plane = ControlPlane(Path(folder), {name: Path(path) for name, path in tools.items()})
        plane.start("1.35.4")
        print(json.dumps(plane.processes()), flush=True)
        time.sleep(600)
    """)
    folder = tmp_path / "orphaned"
    argument = json.dumps([str(folder), {name: str(path) for name, path in tools.items()}])
    with subprocess.Popen(
        [sys.executable, "-c", program, argument], stdout=subprocess.PIPE, env={**os.environ}
    ) as daemon:
        assert daemon.stdout is not None
        pids = json.loads(daemon.stdout.readline())
        daemon.send_signal(signal.SIGKILL)
    plane = ControlPlane(folder, tools)
    try:
        plane.start("1.35.4")
        assert not set(pids.values()) & set(plane.processes().values())
        assert all(gone(pid) for pid in pids.values())
    finally:
        plane.stop()
