import getpass
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aksgpu.errors import AksgpuError
from aksgpu.stack import leftovers, pending

SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"


def _operation(token: str, inputs: Mapping[str, object], kind: str = "creating") -> dict[str, Any]:
    resource = {"urn": f"urn:pulumi:dev::aksgpu::{token}::x", "type": token, "custom": True, "inputs": inputs}
    return {"type": kind, "resource": resource}


POOL = {
    "resourceGroupName": "rg",
    "resourceProviderNamespace": "Microsoft.ContainerService",
    "parentResourcePath": "managedClusters/aks",
    "resourceType": "agentPools",
    "resourceName": "gpunp",
}
AKS = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"


class TestPending:
    @pytest.mark.parametrize(
        ("token", "inputs", "expected"),
        [
            ("azure-native:resources:ResourceGroup", {"resourceGroupName": "rg"}, AKS.split("/providers", 1)[0]),
            ("azure-native:resources:Resource", POOL, f"{AKS}/agentPools/gpunp"),
            (
                "azure-native:containerservice:ManagedCluster",
                {"resourceGroupName": "rg", "resourceName": "aks"},
                AKS,
            ),
            (
                "azure-native:containerservice:AgentPool",
                {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "p"},
                f"{AKS}/agentPools/p",
            ),
        ],
    )
    def test_ids(self, token: str, inputs: dict[str, object], expected: str) -> None:
        [create] = pending.creates({"pending_operations": [_operation(token, inputs)]}, SUBSCRIPTION)
        assert create.id == expected

    def test_only_creations_count(self) -> None:
        state = {"pending_operations": [_operation("azure-native:resources:Resource", POOL, "updating")]}
        assert pending.creates(state, SUBSCRIPTION) == []
        assert pending.creates({}, SUBSCRIPTION) == []

    def test_an_unknown_type_is_told_with_the_way_out(self) -> None:
        state = {"pending_operations": [_operation("azure-native:network:VirtualNetwork", {})]}
        with pytest.raises(AksgpuError, match=r"can't be told.*--clear-pending-creates"):
            pending.creates(state, SUBSCRIPTION)

    def test_finished_creations_become_resources_and_nothing_stays_pending(self) -> None:
        finished = _operation("azure-native:resources:Resource", POOL)
        operations = [
            finished,
            _operation("azure-native:resources:ResourceGroup", {"resourceGroupName": "rg"}),
            _operation("kubernetes:core/v1:Namespace", {"metadata": {"name": "n"}}),
        ]
        exported: dict[str, Any] = {
            "version": 3,
            "deployment": {"resources": [{"urn": "first"}], "pending_operations": operations},
        }
        creates = pending.creates(exported["deployment"], SUBSCRIPTION)
        assert [create.id for create in creates] == [f"{AKS}/agentPools/gpunp", AKS.split("/providers", 1)[0]]
        settled = pending.settle(exported, creates[:1])
        assert settled["version"] == 3
        assert settled["deployment"] == {
            "resources": [{"urn": "first"}, {**finished["resource"], "id": f"{AKS}/agentPools/gpunp"}]
        }


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PULUMI_BACKEND_URL", tmp_path.as_uri())
    return tmp_path


def _lock(backend: Path, **changes: object) -> None:
    folder = backend / ".pulumi/locks/organization/aksgpu/dev"
    folder.mkdir(parents=True)
    lock = {"pid": os.getpid(), "hostname": socket.gethostname(), "username": getpass.getuser(), **changes}
    (folder / "1.json").write_text(json.dumps(lock))


class TestLocks:
    def test_a_lock_of_an_ended_process_is_dead(self, backend: Path) -> None:
        ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
        _lock(backend, pid=int(ended.stdout))
        assert [lock.dead for lock in leftovers.locks("aksgpu", "dev")] == [True]

    def test_a_pid_that_another_program_got_is_dead_too(self, backend: Path) -> None:
        _lock(backend)  # this test's own process, which is no pulumi
        assert [lock.dead for lock in leftovers.locks("aksgpu", "dev")] == [True]

    @pytest.mark.parametrize("change", [{"hostname": "elsewhere"}, {"username": "somebody-else"}])
    def test_somebody_elses_lock_is_never_taken_for_dead(self, backend: Path, change: dict[str, str]) -> None:
        _lock(backend, pid=2**22 - 1, **change)
        assert [lock.dead for lock in leftovers.locks("aksgpu", "dev")] == [False]

    def test_state_kept_elsewhere_has_no_locks_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PULUMI_BACKEND_URL", "https://api.example.org")
        assert leftovers.locks("aksgpu", "dev") == []


def test_only_plugins_without_a_pulumi_are_ended(backend: Path) -> None:
    mine = {**os.environ, "PULUMI_BACKEND_URL": backend.as_uri()}
    other = {**os.environ, "PULUMI_BACKEND_URL": "file:///elsewhere"}
    command = [sys.executable, "-c", "import sys; sys.stdin.read()", "pulumi-resource-something"]
    orphan = subprocess.Popen(command, env=mine, stdin=subprocess.PIPE)
    foreign = subprocess.Popen(command, env=other, stdin=subprocess.PIPE)
    shell = subprocess.Popen([*command[:-1], "something-else"], env=mine, stdin=subprocess.PIPE)
    try:
        assert leftovers.end_orphans() == 1
        orphan.wait(5)
        assert foreign.poll() is None
        assert shell.poll() is None
    finally:
        for process in (orphan, foreign, shell):
            process.kill()
            process.communicate()
