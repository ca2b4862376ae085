"""Which tools on PATH are good enough."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from twin import toolchain
from twin.errors import TwinError
from twin.toolchain import found
from twin.toolchain.groups import GROUPS, PROGRAMS, oldest_go

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Put a program on PATH that prints `says`; nothing else is there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("AKSGPU_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("AKSGPU_STATE_HOME", str(tmp_path / "state"))

    def put(name: str, says: str, script: str = "") -> Path:
        file = folder / name
        file.write_text(f"#!/bin/sh\n{script}\necho '{says}'\n")
        file.chmod(0o755)
        return file

    return put


@pytest.mark.parametrize(
    ("name", "says", "version"),
    [
        ("pulumi", "v3.274.1", "3.274.1"),
        ("pulumi", "v3.300.0", "3.300.0"),
        ("etcd", "etcd Version: 3.6.5\nGit SHA: abc", "3.6.5"),
        ("kubectl", "Client Version: v1.35.9\nKustomize Version: v5.8.1", "1.35.9"),
        ("kubectl", "Client Version: v1.37.0\nKustomize Version: v5.8.1", "1.37.0"),
        ("kube-scheduler", "Kubernetes v1.36.0", "1.36.0"),
        ("kube-controller-manager", "Kubernetes v1.36.9+rke2r1", "1.36.9+rke2r1"),
    ],
)
def test_good_ones_are_used(put: Put, name: str, says: str, version: str) -> None:
    path = put(name, says)
    tool = toolchain.locate()[name]
    assert (tool.origin, tool.path, tool.version, tool.note) == ("path", path, version, "")
    assert toolchain.ensure(lambda _: None, [name]) == {name: tool}


@pytest.mark.parametrize(
    ("name", "says", "note"),
    [
        ("pulumi", "v3.200.0", "is 3.200.0; needed is 3.274 or a newer 3"),
        ("pulumi", "v4.0.0", "is 4.0.0; needed is"),
        ("pulumi", "v3.280.0-dev.0", "is 3.280.0-dev.0; needed is"),
        ("pulumi", "what?", "does not tell its version"),
        ("etcd", "etcd Version: 3.5.21", "is 3.5.21; needed is 3.6"),
        ("kubectl", "Client Version: v1.32.4-dispatcher", "is 1.32.4-dispatcher; needed is a plain 1.35 to 1.37"),
        ("kubectl", "Client Version: v1.36.1-dispatcher", "is 1.36.1-dispatcher"),
        ("kubectl", "Client Version: v1.34.0", "is 1.34.0"),
        ("kube-scheduler", "Kubernetes v1.35.4", "is 1.35.4; needed is a plain 1.36"),
        ("kube-apiserver", "Kubernetes v1.36.3", "can't answer with each cluster's own version"),
        ("pulumi-language-python", "", "only together with a pulumi from PATH"),
        ("pulumi-resource-kubernetes", "", "does not tell its version"),
    ],
)
def test_others_are_refused_with_the_reason(put: Put, name: str, says: str, note: str) -> None:
    path = put(name, says)
    tool = toolchain.locate()[name]
    assert (tool.origin, tool.path) == ("missing", None)
    assert tool.note.startswith(str(path))
    assert note in tool.note


def test_a_language_host_comes_with_its_engine(put: Put) -> None:
    put("pulumi", "v3.300.0")
    host = put("pulumi-language-python", "")
    tool = toolchain.locate()["pulumi-language-python"]
    assert (tool.path, tool.version) == (host, "3.300.0")


def test_a_program_that_hangs_is_refused(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "_PROBE_SECONDS", 0.2)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}/usr/bin{os.pathsep}/bin")
    put("etcd", "etcd Version: 3.6.5", script="exec sleep 60")
    assert "does not tell its version" in toolchain.locate()["etcd"].note


def test_a_program_is_asked_once_as_long_as_it_stays_the_same(put: Put, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    count = f"printf x >> {asked}"
    put("etcd", "etcd Version: 3.6.5", script=count)
    assert [toolchain.locate()["etcd"].version for _ in range(3)] == ["3.6.5"] * 3
    assert asked.read_text() == "x"
    put("etcd", "etcd Version: 3.6.10", script=count)
    assert toolchain.locate()["etcd"].version == "3.6.10"
    assert asked.read_text() == "xx"


def test_links_to_our_own_tools_are_not_taken_for_the_persons(put: Put, tmp_path: Path) -> None:
    own = tmp_path / "cache" / "tools" / "etcd-1"
    own.mkdir(parents=True)
    put("etcd", "etcd Version: 3.6.5").rename(own / "etcd")
    (tmp_path / "bin" / "etcd").symlink_to(own / "etcd")
    assert toolchain.locate()["etcd"].note == ""
    assert toolchain.locate()["etcd"].origin == "missing"


def test_an_unknown_tool_is_named() -> None:
    with pytest.raises(TwinError, match="There is no tool 'helm'; there are etcd, "):
        toolchain.ensure(lambda _: None, ["helm"])


def test_every_program_has_a_version_and_every_module_says_which_go_it_needs() -> None:
    assert set(toolchain.TOOLS) == set(PROGRAMS)
    for name, program in PROGRAMS.items():
        assert program.version[0].isdigit(), name
        assert program.build_flags()[-1].startswith("-s -w"), name
    for group in GROUPS:
        for module in group.modules:
            assert oldest_go(module / "go.mod").startswith("1.")
            assert (module / "go.sum").exists()
