"""From the PUT of a managedCluster to its API server: the twin against a bare etcd and API server."""

import argparse
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from benchmarks.inside import Inside, running_twin
from benchmarks.report import Ratio, show
from twin import credentials, lifecycle, toolchain
from twin.account import SUBSCRIPTION

_PATIENCE_SECONDS = 60
_GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-ready"
_CLUSTER: dict[str, Any] = {
    "location": "eastus",
    "identity": {"type": "SystemAssigned"},
    "properties": {
        "kubernetesVersion": "1.35",
        "dnsPrefix": "ready",
        "agentPoolProfiles": [{"name": "sys", "mode": "System", "count": 1, "vmSize": "Standard_D4s_v5"}],
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0 when the goal is met, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args(arguments).rounds
    tools = {tool.name: str(tool.path) for tool in toolchain.ensure(print).values()}
    bare = min(_bare(tools) for _ in range(rounds))
    with running_twin() as twin:
        ours = min(_put_to_ready(twin, f"ready{number}") for number in range(rounds))
    return show([Ratio("PUT of a cluster to its /readyz / bare etcd and API server", ours, bare, 2)])


def _put_to_ready(twin: Inside, name: str) -> float:
    """Return the seconds from the PUT until the new API server says it is ready."""
    headers = {"Authorization": f"Bearer {credentials.token(twin.folder)}"}
    with httpx2.Client(
        base_url=lifecycle.endpoint(twin.folder), headers=headers, verify=str(twin.folder.ca), timeout=60
    ) as arm:
        arm.put(f"{_GROUP}?api-version=2024-11-01", json={"location": "eastus"}).raise_for_status()
        url = f"{_GROUP}/providers/Microsoft.ContainerService/managedClusters/{name}?api-version=2025-09-01"
        begin = time.monotonic()
        arm.put(url, json=_CLUSTER).raise_for_status()
        # The twin hands out a kubeconfig once /readyz answers, so this counts a little more than that.
        while f"name: {name}\n" not in twin.folder.kubeconfig.read_text():
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        arm.delete(url)
        while arm.get(url).status_code == httpx2.codes.OK:
            time.sleep(0.1)
    return seconds


def _bare(tools: dict[str, str]) -> float:
    """Return the seconds that etcd and the API server need with the fewest flags that work."""
    with tempfile.TemporaryDirectory(prefix="aksgpu-bare-") as name:
        folder = Path(name)
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        (folder / "sa.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
        )
        store, peers, api = (_free_port() for _ in range(3))
        begin = time.monotonic()
        etcd = _start(
            folder,
            tools["etcd"],
            f"--data-dir={folder}/etcd",
            f"--listen-client-urls=http://127.0.0.1:{store}",
            f"--advertise-client-urls=http://127.0.0.1:{store}",
            f"--listen-peer-urls=http://127.0.0.1:{peers}",
            "--unsafe-no-fsync",
        )
        server = _start(
            folder,
            tools["kube-apiserver"],
            f"--etcd-servers=http://127.0.0.1:{store}",
            f"--secure-port={api}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--cert-dir={folder}/certs",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={folder}/sa.key",
            f"--service-account-signing-key-file={folder}/sa.key",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",  # lets anybody read /readyz
            "--emulated-version=kube=1.35",
            "--cluster-version=1.35.4",
        )
        try:
            while not _ready(api):
                if server.poll() is not None or time.monotonic() - begin > _PATIENCE_SECONDS:
                    raise SystemExit((folder / "kube-apiserver.log").read_text()[-1000:])
                time.sleep(0.02)
            return time.monotonic() - begin
        finally:
            for process in (server, etcd):
                process.kill()
                process.wait()


def _start(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    with (folder / f"{Path(command[0]).name}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _ready(port: int) -> bool:
    try:
        return httpx2.get(f"https://127.0.0.1:{port}/readyz", verify=False, timeout=2).status_code == httpx2.codes.OK
    except httpx2.HTTPError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
