"""Starting, stopping, forgetting and describing a twin, from outside its daemon."""

import contextlib
import fcntl
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import psutil

from twin import credentials, toolchain
from twin.controlplane import ControlPlane
from twin.controlplane.ports import free_port
from twin.errors import TwinError
from twin.files import open_private, read_object, replace_text, unreadable
from twin.paths import CHECKOUT, TwinFolder

if TYPE_CHECKING:
    from twin.seed import Seed

_START_SECONDS = 120
_STOP_SECONDS = 60
_PYTHON_PLUGIN = """#!/bin/sh
PYTHONPATH="{checkout}" exec "{python}" -m twin.azure_native "$@"
"""

Report = Callable[[str], None]
"""Receives one line of progress at a time."""


def start(name: str, report: Report, seed_file: Path | None = None) -> TwinFolder:
    """Have the twin `name` run; returns its folder.

    Builds tools that are missing. `seed_file` fills a new twin; a twin that already has data is refused.
    Raises TwinError when it can't be started.
    """
    folder = TwinFolder.of(name)
    seeded = _load(seed_file) if seed_file else None
    tools = toolchain.ensure(report)
    with _no_space_is_one_paragraph(folder):
        credentials.make_private(folder)
        with _starting(folder):
            if seeded and folder.database.exists():
                raise TwinError(
                    f"The twin '{name}' already has data, so it can't be filled from {seed_file}. "
                    f"`aksgpu twin reset --name {name}` forgets it; or choose another --name."
                )
            if running(folder) is None:
                credentials.provide(folder)
                _link_tools(folder, tools)
                _end_leftovers(folder)
                _launch(folder, report)
    if seeded:
        from twin import seed

        seed.apply(seeded, endpoint(folder), credentials.token(folder), folder.ca, report)
    return folder


def stop(name: str) -> bool:
    """Stop the twin and keep its data; returns whether it was running."""
    folder = existing(name)
    with _starting(folder):  # a start that is under way ends first
        return _stop(folder)


def _stop(folder: TwinFolder) -> bool:
    process = running(folder)
    if process:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except psutil.TimeoutExpired:
            process.kill()
    _end_leftovers(folder)
    _empty(folder.temporary)
    return process is not None


def reset(name: str) -> None:
    """Stop the twin and forget everything it knew."""
    folder = existing(name)
    with _starting(folder):
        _stop(folder)
        shutil.rmtree(folder.root, ignore_errors=True)  # a program that still ends may write meanwhile


def existing(name: str) -> TwinFolder:
    """Return the folder of a twin that was started once; raises TwinError when there is none of that name."""
    folder = TwinFolder.of(name)
    if not folder.root.is_dir():
        known = sorted(path.name for path in folder.root.parent.glob("*") if path.is_dir())
        there = f"There are: {', '.join(known)}." if known else "There is none yet; `aksgpu twin start` makes one."
        raise TwinError(f"There is no twin called '{name}'. {there}")
    return folder


def running(folder: TwinFolder) -> psutil.Process | None:
    """Return the twin's daemon, or None; a pid that another program got since doesn't count."""
    try:
        record = read_object(folder.daemon)
        process = psutil.Process(record["pid"])
        same = abs(process.create_time() - record["started"]) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except (FileNotFoundError, psutil.NoSuchProcess):
        return None
    except (TwinError, KeyError, TypeError, ValueError):
        return _lock_holder(folder)
    return process if same else None


def _lock_holder(folder: TwinFolder) -> psutil.Process | None:
    """Find the daemon by the lock that it holds, for when its own file is damaged."""
    lock = str(folder.daemon_lock)
    for process in psutil.process_iter(["cmdline"]):
        if (process.info["cmdline"] or [])[-3:] != ["-m", "twin.daemon", folder.name]:
            continue
        with contextlib.suppress(psutil.Error):
            if any(opened.path == lock for opened in process.open_files()):
                return process
    return None


def endpoint(folder: TwinFolder) -> str:
    """Return the URL of the twin's Azure endpoint."""
    return f"https://127.0.0.1:{_kept_port(folder)}"


def answers(folder: TwinFolder) -> bool:
    """Return whether the Azure endpoint answers."""
    context = ssl.create_default_context(cafile=str(folder.ca))
    headers = {"Authorization": f"Bearer {credentials.token(folder)}"}
    try:
        answer = httpx2.get(
            f"{endpoint(folder)}/subscriptions?api-version=2022-12-01",
            headers=headers,
            verify=context,
            timeout=5,
            trust_env=False,
        )
    except httpx2.HTTPError:
        return False
    return answer.status_code == httpx2.codes.OK


def _load(file: Path) -> "Seed":
    from twin import seed

    return seed.load(file)


@contextmanager
def _starting(folder: TwinFolder) -> Generator[None]:
    """Let one start at a time through; the second then finds the twin running."""
    with folder.start_lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _no_space_is_one_paragraph(folder: TwinFolder) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise TwinError(
            f"The twin '{folder.name}' could not be started: {error.strerror or error} "
            f"({error.filename or folder.root}). Make room or mend the permissions there, or move the twins "
            "with AKSGPU_STATE_HOME, then try again."
        ) from error


def _link_tools(folder: TwinFolder, tools: dict[str, toolchain.Tool]) -> None:
    """Fill the folder that goes first on the PATH of `twin exec`."""
    _empty(folder.bin)
    for tool in tools.values():
        if tool.path:
            (folder.bin / tool.name).symlink_to(tool.path)
    plugin = folder.bin / "pulumi-resource-azure-native"
    plugin.write_text(_PYTHON_PLUGIN.format(checkout=CHECKOUT, python=sys.executable))
    plugin.chmod(0o700)


def _empty(folder: Path) -> None:
    for path in folder.iterdir() if folder.exists() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _end_leftovers(folder: TwinFolder) -> None:
    """End control planes that outlived a killed daemon."""
    for path in folder.clusters.glob("*/"):
        ControlPlane(path, {}).stop()
    folder.daemon.unlink(missing_ok=True)


def _launch(folder: TwinFolder, report: Report) -> None:
    port = _port(folder)
    replace_text(folder.settings, json.dumps({"port": port}))
    log_start = folder.log.stat().st_size if folder.log.exists() else 0
    log = open_private(folder.log)
    try:
        daemon = subprocess.Popen(
            [sys.executable, "-m", "twin.daemon", folder.name],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)
    report(f"starting the twin '{folder.name}'")
    deadline = time.monotonic() + _START_SECONDS
    while not answers(folder):
        if daemon.poll() is not None or time.monotonic() > deadline:
            daemon.kill()
            raise TwinError(_why(folder, log_start))
        time.sleep(0.05)


def _why(folder: TwinFolder, log_start: int) -> str:
    with folder.log.open() as log:
        log.seek(log_start)
        lines = [line for line in log.read().splitlines() if line.strip()]
    told = [line.split(" ERROR twin: ", 1)[1] for line in lines if " ERROR twin: " in line]
    if told:
        return f"The twin '{folder.name}' did not start. {told[-1]}"
    last = "\n".join(lines[-5:]) or "It said nothing."
    return f"The twin '{folder.name}' did not start. The end of its log ({folder.log}):\n{last}"


def _kept_port(folder: TwinFolder) -> int:
    port = read_object(folder.settings).get("port")
    if not isinstance(port, int) or isinstance(port, bool) or not 0 < port < 65536:
        raise unreadable(folder.settings, "it holds no port")
    return port


def _port(folder: TwinFolder) -> int:
    """Return the twin's port: the one it had, since kubeconfigs and stacks hold it, or a free one."""
    try:
        port = _kept_port(folder)
    except FileNotFoundError:
        return free_port()
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise TwinError(
            f"Port {port}, which the twin '{folder.name}' uses, is taken by another program "
            f"({error.strerror}). End that program (`ss -ltnp 'sport = :{port}'` names it), or forget the twin with "
            f"`aksgpu twin reset --name {folder.name}`."
        ) from error
    return port
