"""Background programs: found again, told apart from others, and ended."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from twin.processes import Child, end


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    child = Child(tmp_path / "run.json", tmp_path / "child.log")
    yield child
    end([child], 0)


def until(condition: object) -> None:
    deadline = time.monotonic() + 30
    while not (condition() if callable(condition) else condition):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_output_and_environment(child: Child) -> None:
    child.start(["/bin/sh", "-c", "echo $GREETING; echo second >&2"], {"GREETING": "hello"})
    until(lambda: child.process() is None)
    assert child.log_end(2) == "hello\nsecond"
    assert child.log_end(1) == "second"
    assert child.log.stat().st_mode & 0o077 == 0


def test_another_object_finds_and_ends_it(child: Child, tmp_path: Path) -> None:
    child.start(["/bin/sleep", "600"])
    found = Child(tmp_path / "run.json", tmp_path / "child.log")
    process = found.process()
    assert process is not None
    end([found], 5)
    assert found.process() is None
    until(lambda: child.process() is None)
    assert not (tmp_path / "run.json").exists()


def test_one_that_ignores_sigterm_is_killed(child: Child) -> None:
    child.start(["/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"])
    until(lambda: child.log_end(1) == "ready")
    end([child], 0.1)
    assert child.process() is None


def test_a_pid_that_another_program_got_is_left_alone(child: Child, tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "600"]) as stranger:
        (tmp_path / "run.json").write_text(json.dumps({"pid": stranger.pid, "started": 12345.0}))
        assert child.process() is None
        end([child], 1)
        assert stranger.poll() is None
        stranger.kill()


@pytest.mark.parametrize("record", ["", "[]", "{}", '{"pid": 1}'])
def test_a_broken_record_means_nothing_runs(child: Child, tmp_path: Path, record: str) -> None:
    (tmp_path / "run.json").write_text(record)
    assert child.process() is None


def test_it_dies_with_its_parent_but_not_with_the_thread_that_asked(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import sys, threading, time
        from pathlib import Path
        from twin.processes import Child
        folder = Path(sys.argv[1])
        child = Child(folder / "run.json", folder / "log")
        thread = threading.Thread(target=child.start, args=(["/bin/sleep", "600"],))
        thread.start(); thread.join()
        print(child.process().pid, flush=True)
        time.sleep(600)
    """)
    with subprocess.Popen([sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        until(lambda: psutil.Process(pid).name() == "sleep")
        os.kill(parent.pid, signal.SIGKILL)
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_a_long_log_is_put_aside(child: Child) -> None:
    child.log.write_bytes(b"x" * (9 * 1024 * 1024))
    child.start(["/bin/echo", "new"])
    until(lambda: child.log_end(1) == "new")
    assert child.log.stat().st_size < 100
    assert child.log.with_suffix(".old.log").stat().st_size == 9 * 1024 * 1024
