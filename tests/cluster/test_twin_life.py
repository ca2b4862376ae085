"""A twin from outside: starting, stopping, several at once, kills at any moment, bad input."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from azure.core.exceptions import HttpResponseError, ServiceRequestError, ServiceResponseError
from azure.mgmt.containerservice import ContainerServiceClient

from aksgpu.readers.azure import Azure, AzureError
from twin import execute, faults, lifecycle
from twin.account import SUBSCRIPTION
from twin.errors import TwinError
from twin.paths import TwinFolder

GROUP = "rg-life"
CLUSTER = "aks-life"
_CLUSTER_BODY: Any = {
    "location": "eastus",
    "identity": {"type": "SystemAssigned"},
    "properties": {
        "kubernetesVersion": "1.35",
        "dnsPrefix": "life",
        "agentPoolProfiles": [{"name": "sys", "mode": "System", "count": 1, "vmSize": "Standard_D4s_v5"}],
    },
}
_POOL_BODY: Any = {"properties": {"count": 1, "vmSize": "Standard_D4s_v5", "mode": "User"}}
PARTS = ("daemon", "etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "aksgpu-nodes")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwinFolder]:
    """A twin of this module's own with one small cluster, since its tests kill it."""
    before = dict(os.environ)
    os.environ["AKSGPU_STATE_HOME"] = str(tmp_path_factory.mktemp("life"))
    started = lifecycle.start("life", lambda _: None)
    os.environ.update(execute.environment(started))
    azure = Azure(SUBSCRIPTION)
    azure._resources.resource_groups.create_or_update(GROUP, {"location": "eastus"})
    containers(azure).managed_clusters.begin_create_or_update(GROUP, CLUSTER, _CLUSTER_BODY).result()
    yield started
    lifecycle.stop("life")
    os.environ.clear()
    os.environ.update(before)


def containers(azure: Azure) -> ContainerServiceClient:
    return azure._containers


def _pids(folder: TwinFolder) -> dict[str, int]:
    from twin import status

    report = status.read(folder.name)
    daemon = lifecycle.running(folder)
    assert daemon is not None
    return {"daemon": daemon.pid, **report.clusters[0].processes}


def _healthy(folder: TwinFolder) -> bool:
    done = subprocess.run(
        ["kubectl", "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=60s"],
        env=execute.environment(folder),
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def _put_pool(azure: Azure, name: str) -> None:
    containers(azure).agent_pools.begin_create_or_update(GROUP, CLUSTER, name, _POOL_BODY)


def _pool_states(azure: Azure) -> dict[str, str | None]:
    return {pool.facts.label: pool.provisioning_state for pool in azure.pools(GROUP, CLUSTER)}


@pytest.mark.parametrize("seed", range(len(PARTS) + 2))
def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(folder: TwinFolder, seed: int) -> None:
    """Each part is killed once, and the whole twin twice, at a random moment after a pool was accepted."""
    chance = random.Random(seed)
    azure = Azure(SUBSCRIPTION)
    pool = f"p{seed}"
    _put_pool(azure, pool)
    time.sleep(chance.random())
    _wait(lambda: set(_pids(folder)) == set(PARTS), "every part before the kill")
    victims = list(_pids(folder).items()) if seed >= len(PARTS) else [(PARTS[seed], _pids(folder)[PARTS[seed]])]
    for _, pid in victims:
        os.kill(pid, signal.SIGKILL)
    lifecycle.start(folder.name, lambda _: None)
    _wait(lambda: _pool_states(azure).get(pool) == "Succeeded", f"the pool {pool} after killing {victims}")
    _wait(lambda: set(_pids(folder)) == set(PARTS), f"every part after killing {victims}")
    _wait(lambda: _healthy(folder), f"all nodes after killing {victims}")


def test_an_operation_cut_off_by_a_stop_ends_after_the_next_start(folder: TwinFolder) -> None:
    azure = Azure(SUBSCRIPTION)
    _put_pool(azure, "cut")
    lifecycle.stop(folder.name)
    lifecycle.start(folder.name, lambda _: None)
    _wait(lambda: _pool_states(azure).get("cut") == "Succeeded", "the pool that was being made")


def test_stop_leaves_no_process_port_or_temporary_file(folder: TwinFolder) -> None:
    pids = set(_pids(folder).values())
    ports = {connection.laddr.port for pid in pids for connection in psutil.Process(pid).net_connections()}
    (folder.temporary / "kubeconfig-left-by-a-provider").write_text("x")
    lifecycle.stop(folder.name)
    try:
        assert not [pid for pid in pids if psutil.pid_exists(pid)]
        assert not [p for p in psutil.process_iter() if str(folder.root) in " ".join(_command_line(p))]
        assert list(folder.temporary.iterdir()) == []
        for port in ports & _listened(folder):
            socket.create_server(("127.0.0.1", port)).close()
    finally:
        lifecycle.start(folder.name, lambda _: None)


def _listened(folder: TwinFolder) -> set[int]:
    ports = {int(json.loads(folder.settings.read_text())["port"])}
    for file in folder.clusters.glob("*/ports.json"):
        ports |= set(json.loads(file.read_text()).values())
    return ports


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []


def test_two_twins_at_once_know_nothing_of_each_other(folder: TwinFolder) -> None:
    other = lifecycle.start("other", lambda _: None)
    try:
        assert lifecycle.endpoint(other) != lifecycle.endpoint(folder)
        env = execute.environment(other)
        answer = subprocess.run(
            [sys.executable, "-c", _LIST_CLUSTERS], env=env, capture_output=True, text=True, check=True
        )
        assert answer.stdout.strip() == "0"
    finally:
        lifecycle.reset("other")


_LIST_CLUSTERS = """
import os
from aksgpu.readers.azure import Azure, AzureError
print(len(list(Azure(os.environ["AZURE_SUBSCRIPTION_ID"])._containers.managed_clusters.list())))
"""


def _wait(condition: Callable[[], bool], what: str, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except (AzureError, HttpResponseError, ServiceRequestError, ServiceResponseError):
            pass  # what was killed is still coming back
        time.sleep(0.2)
    raise AssertionError(f"did not see {what} within {seconds} s")


def _aksgpu(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["aksgpu", *arguments], env={**os.environ, **env}, capture_output=True, text=True, check=False, timeout=120
    )


class TestBadInput:
    """Each is one clear paragraph and exit code 2; nothing is started."""

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["twin", "start", "--name", "No/Name"], "can't be the name of a twin"),
            (["twin", "stop", "--name", "unheard-of"], "There is no twin called 'unheard-of'"),
            (["twin", "fault", "nonsense", "--name", "life"], "There is no fault 'nonsense'"),
            (["twin", "exec", "--name", "life", "--", "no-such-program"], "There is no program 'no-such-program'"),
            (["twin", "exec", "--name", "life"], "Say which command to run"),
            (["twin", "start", "--name", "new", "--with", "/no/such/file.yaml"], "/no/such/file.yaml"),
        ],
    )
    def test_one_paragraph(self, folder: TwinFolder, arguments: list[str], told: str) -> None:
        done = _aksgpu(*arguments)
        assert done.returncode == 2
        assert told in done.stderr
        assert "Traceback" not in done.stderr
        assert not TwinFolder.of("new").database.exists()

    def test_a_busy_port(self, folder: TwinFolder) -> None:
        lifecycle.stop(folder.name)
        port = int(json.loads(folder.settings.read_text())["port"])
        try:
            with socket.create_server(("127.0.0.1", port)), pytest.raises(TwinError, match=f"Port {port}.*taken"):
                lifecycle.start(folder.name, lambda _: None)
        finally:
            lifecycle.start(folder.name, lambda _: None)

    def test_no_tools(self, tmp_path: Path) -> None:
        done = _aksgpu(
            "twin", "start", "--name", "bare",
            AKSGPU_CACHE_HOME=str(tmp_path), PATH=str(Path(sys.executable).parent),
        )  # fmt: skip
        assert done.returncode == 2
        assert "Go" in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_full_disk(self, tmp_path: Path) -> None:
        # A file where the folder should be fails every write below it, as a full disk does, for root too.
        (tmp_path / "twins").write_text("")
        done = _aksgpu("twin", "start", "--name", "full", AKSGPU_STATE_HOME=str(tmp_path))
        assert done.returncode == 2
        assert "Make room or mend the permissions" in done.stderr


def test_damaged_files_are_named_or_made_anew(folder: TwinFolder) -> None:
    damaged = lifecycle.start("damaged", lambda _: None)
    lifecycle.stop("damaged")
    try:
        for file in (damaged.ca, damaged.server_certificate, damaged.token):
            file.write_text("")
        lifecycle.start("damaged", lambda _: None)
        lifecycle.stop("damaged")
        for file in (damaged.faults, damaged.database, damaged.settings):
            before = file.read_bytes() if file.exists() else None
            file.write_text("{" * 4096)  # SQLite takes a shorter file for an empty database
            with pytest.raises(TwinError, match=f"{file.name}.*aksgpu twin reset"):
                lifecycle.start("damaged", lambda _: None)
            file.unlink() if before is None else file.write_bytes(before)
    finally:
        lifecycle.reset("damaged")


@pytest.mark.parametrize("text", ["{", '{"pid": "x", "started": 1}', "[]"])
def test_a_daemon_is_stopped_although_its_own_file_is_damaged(folder: TwinFolder, text: str) -> None:
    other = lifecycle.start("hidden", lambda _: None)
    try:
        process = lifecycle.running(other)
        other.daemon.write_text(text)
        assert lifecycle.stop("hidden")
        assert process is not None
        assert not process.is_running()
    finally:
        lifecycle.reset("hidden")


def test_a_fault_that_nobody_could_have_switched_on_names_the_file(folder: TwinFolder) -> None:
    file = folder.root / "other-faults.json"
    for text in ('{"arm-slow": "x"}', '{"no-such-fault": null}', '{"arm-500": 7}'):
        file.write_text(text)
        with pytest.raises(TwinError, match=r"other-faults\.json"):
            faults.active(file)
    file.unlink()


def test_exec_returns_the_commands_own_exit_code(folder: TwinFolder) -> None:
    assert _aksgpu("twin", "exec", "--name", "life", "--", "sh", "-c", "exit 7").returncode == 7
