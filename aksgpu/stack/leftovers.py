"""What a killed `pulumi` leaves behind on this machine: the stack's lock, and plugins that go on running."""

import getpass
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psutil

_PLUGINS = ("pulumi-resource-", "pulumi-language-", "pulumi.policy", "pulumi.provider")


@dataclass(frozen=True)
class Lock:
    """A lock on a stack in a folder backend."""

    file: Path
    pid: int
    host: str
    user: str

    @property
    def dead(self) -> bool:
        """Whether the command that took it ended without giving it back: same machine and user, no such process."""
        return self.host == socket.gethostname() and self.user == getpass.getuser() and not _runs_pulumi(self.pid)


def _runs_pulumi(pid: int) -> bool:
    """Tell whether the process lives and is a pulumi; a pid may belong to something else by now."""
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and "pulumi" in process.name()
    except psutil.NoSuchProcess:
        return False


def backend_folder() -> Path | None:
    """Return the folder of the state backend, or None when state is kept elsewhere."""
    url = urlsplit(os.environ.get("PULUMI_BACKEND_URL", ""))
    return Path(unquote(url.path)) if url.scheme == "file" else None


def locks(project: str, stack: str) -> list[Lock]:
    """Return the locks on the stack; an empty list when state is not kept in a folder."""
    folder = backend_folder()
    if folder is None:
        return []
    held = (folder / ".pulumi" / "locks" / "organization" / project / stack).glob("*.json")
    return [_lock(file) for file in sorted(held)]


def _lock(file: Path) -> Lock:
    held = json.loads(file.read_text())
    return Lock(file, int(held["pid"]), str(held["hostname"]), str(held["username"]))


def end_orphans() -> int:
    """End plugins of this state backend that no living `pulumi` started; returns how many."""
    orphans = list(_orphans())
    for process in orphans:
        process.kill()
    psutil.wait_procs(orphans, timeout=5)
    return len(orphans)


def _orphans() -> Iterator[psutil.Process]:
    backend = os.environ.get("PULUMI_BACKEND_URL")
    for process in psutil.process_iter():
        try:
            line = " ".join(process.cmdline())
            ours = any(plugin in line for plugin in _PLUGINS) and process.environ().get("PULUMI_BACKEND_URL") == backend
            if ours and not any(parent.name() == "pulumi" for parent in process.parents()):
                yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
