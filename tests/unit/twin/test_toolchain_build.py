"""Building tools, from a tiny module with the real Go and from a stand-in for Go that fails on demand."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from twin.errors import TwinError
from twin.toolchain import golang
from twin.toolchain.build import build, result
from twin.toolchain.groups import Group, Program

MAIN = 'package main\n\nimport "fmt"\n\nvar version = "none"\n\nfunc main() { fmt.Println("hello", version) }\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("AKSGPU_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "tools"


@pytest.fixture
def group(tmp_path: Path) -> Group:
    module = tmp_path / "module"
    module.mkdir()
    (module / "go.mod").write_text("module example.com/hello\n\ngo 1.24\n\nrequire example.com/pin v1.2.3\n")
    (module / "main.go").write_text(MAIN)
    return Group("hello", (Program("hello", module, ".", 0.1, "example.com/pin", ("main.version={version}",)),))


def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build_script: str, version: str = "1.26.0") -> None:
    """Put a `go` first on PATH that knows its version, and runs `build_script` for anything else."""
    folder = tmp_path / "fake"
    folder.mkdir()
    go = folder / "go"
    answer = f'{{"GOVERSION": "go{version}", "GOOS": "linux", "GOARCH": "amd64"}}'
    go.write_text(f"#!/bin/sh\nif [ \"$1\" = env ]; then echo '{answer}'; exit; fi\n{build_script}\n")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_what_is_built_runs_and_is_built_once(group: Group, cache: Path) -> None:
    lines: list[str] = []
    folder = build(group, golang.need(), lines.append)
    assert subprocess.check_output([folder / "hello"], text=True) == "hello 1.2.3\n"
    assert [line.split()[0] for line in lines] == ["building", "built"]
    assert build(group, golang.need(), lines.append) == folder
    assert len(lines) == 2
    assert sorted(path.name for path in cache.iterdir()) == sorted(["hello.lock", folder.name])
    assert {path.name for path in group.modules[0].iterdir()} == {"go.mod", "main.go"}


def test_what_decides_the_result_decides_its_folder(group: Group) -> None:
    go, module = golang.need(), group.modules[0]
    first = result(group, go)
    (module / "main_test.go").write_text("package main\n")
    (module / "notes.md").write_text("irrelevant")
    assert result(group, go) == first
    (module / "main.go").write_text(MAIN.replace("hello", "bye"))
    second = result(group, go)
    (module / "go.mod").write_text((module / "go.mod").read_text().replace("1.2.3", "1.2.4"))
    third = result(group, go)
    other_go = golang.Go(go.path, "1.99.0", go.platform)
    assert len({first, second, third, result(group, other_go)}) == 4


def test_two_builds_at_once_wait_for_each_other(group: Group, cache: Path) -> None:
    cache.mkdir(parents=True)
    lines: list[str] = []
    waiting = threading.Event()

    def report(line: str) -> None:
        lines.append(line)
        if line.startswith("waiting for another build of hello"):
            waiting.set()

    with (cache / "hello.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = threading.Thread(target=build, args=(group, golang.need(), report))
        second.start()
        assert waiting.wait(60)
        result(group, golang.need()).mkdir()  # what the first build makes
    second.join(60)
    assert len(lines) == 1


def test_a_killed_build_leaves_nothing_that_counts(
    group: Group, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        fake_go(tmp_path, patched, "touch half-done; exec sleep 600")
        program = (
            "import sys; from pathlib import Path; from twin.toolchain import golang;"
            "from twin.toolchain.build import build; from twin.toolchain.groups import Group, Program;"
            "build(Group('hello', (Program('hello', Path(sys.argv[1]), '.', 0.1, 'example.com/pin'),)),"
            "golang.need(), print)"
        )
        with subprocess.Popen([sys.executable, "-c", program, group.modules[0]], start_new_session=True) as killed:
            deadline = time.monotonic() + 60
            while not list(cache.glob(".scratch-hello@*/module/half-done")):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            os.killpg(killed.pid, signal.SIGKILL)
    assert not list(cache.glob("hello-*"))
    folder = build(group, golang.need(), lambda _: None)
    assert (folder / "hello").exists()
    assert not list(cache.glob(".scratch-*"))


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("dial tcp: lookup proxy.example: no such host", "Go can't reach its modules: check the network"),
        ("write /x: no space left on device", "The disk is full"),
        ("main.go:1: undefined: x", "Mend what Go complains about"),
    ],
)
def test_a_failure_ends_with_what_go_said(
    group: Group, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, hint: str
) -> None:
    fake_go(tmp_path, monkeypatch, f"echo '{said}' >&2; exit 1")
    with pytest.raises(TwinError, match=f"Building hello failed. {hint}") as raised:
        build(group, golang.need(), lambda _: None)
    assert str(raised.value).endswith(said)
    assert [path.name for path in cache.iterdir()] == ["hello.lock"]


def test_a_go_that_is_too_old_is_named(group: Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_go(tmp_path, monkeypatch, "exit 1", version="1.9.2")
    with pytest.raises(TwinError, match=re.escape("needs Go 1.24 or newer")) as raised:
        build(group, golang.need(), lambda _: None)
    assert "1.9.2" in str(raised.value)


@pytest.mark.parametrize("broken", ["absent", "silent"])
def test_without_go_there_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    (tmp_path / "bin").mkdir()
    if broken == "silent":
        (tmp_path / "bin" / "go").write_text("#!/bin/sh\nexit 3\n")
        (tmp_path / "bin" / "go").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(TwinError, match="Go isn't on PATH"):
        golang.need()


def test_a_full_disk_is_found_before_the_build(group: Group, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=5 * 1024**2))
    with pytest.raises(TwinError, match=r"needs 2 GiB of free disk and .* has 5 MiB"):
        build(group, golang.need(), lambda _: None)


def test_a_cache_that_cannot_be_written_is_named(group: Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AKSGPU_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(TwinError, match="move the cache with AKSGPU_CACHE_HOME"):
        build(group, golang.need(), lambda _: None)
