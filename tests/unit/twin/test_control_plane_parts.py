"""The small parts of a control plane: ports, restarts, certificates, and starts that can't succeed."""

import json
import socket
import stat
import time
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from twin.controlplane import ControlPlane, ports
from twin.controlplane.certificates import Certificates
from twin.controlplane.restarts import Restarts
from twin.errors import TwinError
from twin.nodeplan import ClusterPlan


class TestPorts:
    def test_they_are_kept(self, tmp_path: Path) -> None:
        file = tmp_path / "a" / "ports.json"
        file.parent.mkdir()
        chosen = ports.provide(file)
        assert len({chosen.apiserver, chosen.etcd, chosen.kubelets}) == 3
        assert ports.provide(file) == chosen

    def test_only_the_address_of_the_api_server_may_not_move(self, tmp_path: Path) -> None:
        file = tmp_path / "a" / "ports.json"
        file.parent.mkdir()
        before = ports.provide(file)
        with socket.create_server(("127.0.0.1", before.etcd)):
            after = ports.provide(file)
        assert (after.apiserver, after.kubelets) == (before.apiserver, before.kubelets)
        assert after.etcd != before.etcd

    def test_those_of_a_stopped_neighbour_are_left_alone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ports, "_RANGE", range(20100, 20106))
        monkeypatch.setattr(ports, "_free", lambda _: True)
        for name in ("a", "b", "c"):
            (tmp_path / name).mkdir()
        one = ports.provide(tmp_path / "a" / "ports.json")
        two = ports.provide(tmp_path / "b" / "ports.json")
        assert {one.apiserver, one.etcd, one.kubelets}.isdisjoint({two.apiserver, two.etcd, two.kubelets})
        with pytest.raises(TwinError, match="No free port is left from 20100 to 20106"):
            ports.provide(tmp_path / "c" / "ports.json")

    @pytest.mark.parametrize("text", ["", "{}", '{"apiserver": 1, "other": 2}'])
    def test_a_broken_file_is_named(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "ports.json").write_text(text)
        with pytest.raises(TwinError, match=r"ports\.json can't be read"):
            ports.read(tmp_path / "ports.json")


class TestRestarts:
    def test_quick_deaths_are_answered_more_and_more_slowly(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [1000.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        restarts, waits = Restarts(), []
        for _ in range(8):
            began = now[0]
            while not restarts.due("etcd"):
                now[0] += 0.5
            waits.append(now[0] - began)
            restarts.started("etcd")
        assert waits == [0, 0, 1, 2, 4, 8, 16, 30]

    def test_a_late_death_is_answered_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [1000.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        restarts = Restarts()
        for _ in range(4):
            restarts.started("etcd")
        assert not restarts.due("etcd")
        now[0] += 600
        assert restarts.due("etcd")
        restarts.started("etcd")
        assert restarts.due("etcd")


class TestCertificates:
    def test_everyone_is_who_rbac_knows_them_as(self, tmp_path: Path) -> None:
        certificates = Certificates(tmp_path / "certs")
        certificates.provide()
        who = {}
        for client in ("admin", "user", "kube-scheduler", "kube-controller-manager", "aksgpu-nodes"):
            subject = x509.load_pem_x509_certificate(certificates.certificate(client).read_bytes()).subject
            who[client] = tuple(
                subject.get_attributes_for_oid(oid)[0].value for oid in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
            )
        assert who == {
            "admin": ("clusterAdmin", "system:masters"),
            "user": ("clusterUser", "system:masters"),
            "kube-scheduler": ("system:kube-scheduler", "aksgpu twin"),
            "kube-controller-manager": ("system:kube-controller-manager", "system:masters"),
            "aksgpu-nodes": ("aksgpu-nodes", "system:masters"),
        }

    def test_they_stay_and_only_their_owner_can_read_them(self, tmp_path: Path) -> None:
        certificates = Certificates(tmp_path / "certs")
        certificates.provide()
        before = {file.name: file.read_bytes() for file in (tmp_path / "certs").iterdir()}
        certificates.key("user").unlink()
        certificates.provide()
        after = {file.name: file.read_bytes() for file in (tmp_path / "certs").iterdir()}
        assert {name for name in before if before[name] != after[name]} == {"user.crt", "user.key"}
        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in (tmp_path / "certs").iterdir())


def test_a_part_that_ends_at_once_is_named_and_nothing_stays(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'flag provided but not defined'; exit 2\n")
    broken.chmod(0o755)
    plane = ControlPlane(tmp_path / "c", dict.fromkeys(("etcd", "kube-apiserver", "kube-scheduler"), broken))
    with pytest.raises(TwinError, match=r"ended at once.*\n.*flag provided but not defined"):
        plane.start("1.35.4")
    assert plane.processes() == {}
    assert plane.tend() == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where a folder belongs")
    with pytest.raises(TwinError, match=r"can't be started: File exists \(.*/logs\)"):
        ControlPlane(tmp_path, {}).start("1.35.4")


def test_what_was_never_started_can_be_asked_and_stopped(tmp_path: Path) -> None:
    plane = ControlPlane(tmp_path, {})
    plane.stop()
    assert plane.version is None
    assert plane.processes() == {}
    assert plane.tend() == []
    with pytest.raises(TwinError, match="was never started"):
        plane.kubeconfig("admin")


def test_the_plan_is_written_as_the_kubelets_read_it(tmp_path: Path) -> None:
    ControlPlane(tmp_path, {}).set_plan(ClusterPlan(faults={"image-pull": "gpunp"}))
    assert json.loads((tmp_path / "nodes.json").read_text()) == {
        "nodes": [],
        "faults": {"image-pull": "gpunp"},
    }


def test_a_kubeconfig_holds_all_it_needs(tmp_path: Path) -> None:
    Certificates(tmp_path / "certs").provide()
    (tmp_path / "ports.json").write_text(json.dumps({"apiserver": 20001, "etcd": 20002, "kubelets": 20003}))
    config = yaml.safe_load(ControlPlane(tmp_path, {}).kubeconfig("user"))
    cluster = config["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:20001"
    assert set(cluster) == {"server", "certificate-authority-data"}
    assert set(config["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}
