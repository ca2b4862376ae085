"""Programs that run in the background for as long as this process lives, and can be told apart from others.

A pid alone says little: once its process is gone the system may give it to another program. So a child is
recorded with the time it started, and only a process with both is ours.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from twin import bound_exec
from twin.files import open_private, replace_text

_LOG_LIMIT = 8 * 1024 * 1024
_START_TIME_TOLERANCE = 2.0
"""Seconds. The start time is reckoned from the machine's boot time, which moves when the clock is set."""
_KILL_SECONDS = 30.0
_POLL_SECONDS = 0.02

# The kernel ties "kill me when my parent dies" to the thread that started the child. Threads that serve a
# request come and go, so one thread, which lives as long as this process, starts every child.
_SPAWNER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")


class Child:
    """One background program: its log, the record of its pid, its end.

    A new `Child` on the record of an earlier one finds the earlier one's process, so that what a killed
    daemon left behind can be ended.
    """

    def __init__(self, record: Path, log: Path) -> None:
        self._record = record
        self.log = log
        self._popen: subprocess.Popen[bytes] | None = None

    def start(self, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> None:
        """Start `command` (its first word an absolute path), its output appended to the log.

        `environment` is added to this process's own. Raises OSError when the log can't be written.
        """
        _rotate(self.log)
        log = open_private(self.log)
        try:
            self._popen = _SPAWNER.submit(_spawn, [str(word) for word in command], environment, log).result()
        finally:
            os.close(log)
        started = psutil.Process(self._popen.pid).create_time()
        replace_text(self._record, json.dumps({"pid": self._popen.pid, "started": started}))

    def process(self) -> psutil.Process | None:
        """Return the running process, or None when it has ended or was never started."""
        if self._popen is not None and self._popen.poll() is not None:
            return None
        try:
            record = json.loads(self._record.read_text())
            process = psutil.Process(record["pid"])
            same = abs(process.create_time() - record["started"]) < _START_TIME_TOLERANCE
            # One that we started counts until it is reaped: a killed process with several threads looks
            # like a zombie while it still holds its ports. A stranger's child may never be reaped.
            alive = self._popen is not None or process.status() != psutil.STATUS_ZOMBIE
        except (FileNotFoundError, ValueError, TypeError, KeyError, psutil.NoSuchProcess):
            return None
        return process if same and alive else None

    def forget(self) -> None:
        """Drop the record of a process that is gone."""
        self._popen = None
        self._record.unlink(missing_ok=True)

    def log_end(self, lines: int) -> str:
        """Return the last `lines` lines of the log; empty when there is none."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 16384))
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])


def end(children: Sequence[Child], grace: float) -> None:
    """End `children` together and return when they are gone: SIGTERM, and SIGKILL after `grace` seconds."""
    for send, patience in ((psutil.Process.terminate, grace), (psutil.Process.kill, _KILL_SECONDS)):
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                if process := child.process():
                    send(process)
        deadline = time.monotonic() + patience
        while any(child.process() for child in children) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
    for child in children:
        child.forget()


def _spawn(command: list[str], environment: Mapping[str, str] | None, log: int) -> subprocess.Popen[bytes]:
    if sys.platform == "linux":
        command = [sys.executable, "-I", "-S", bound_exec.__file__, str(os.getpid()), *command]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env={**os.environ, **(environment or {})},
        cwd="/",
        start_new_session=True,  # Ctrl-C at a terminal is for the daemon, which ends its children in order
    )


def _rotate(log: Path) -> None:
    """Keep one earlier log once this one has grown long."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > _LOG_LIMIT:
            log.replace(log.with_suffix(".old.log"))
