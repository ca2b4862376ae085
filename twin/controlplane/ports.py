"""The ports of one control plane, kept over restarts."""

import json
import random
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from twin.errors import TwinError
from twin.files import replace_text

_RANGE = range(20000, 32000)
"""Below the ports that Linux and macOS give to outgoing connections, so that none of these can take a kept
port while the control plane is stopped."""
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Ports:
    """TCP ports on 127.0.0.1."""

    apiserver: int
    etcd: int
    kubelets: int


def free_port() -> int:
    """Return a free port that no outgoing connection takes while its owner is stopped."""
    return next(port for port in random.sample(_RANGE, len(_RANGE)) if _free(port))


def provide(file: Path) -> Ports:
    """Return the ports in `file`, choosing those that are missing or that may move and are taken.

    The API server's port is in kubeconfigs and stacks, so it never moves: raises TwinError when another
    program has taken it.
    """
    kept = read(file)
    if kept is not None and not _becomes_free(kept.apiserver):
        raise TwinError(
            f"Port {kept.apiserver}, on which the API server of the cluster in {file.parent} listens, is taken "
            "by another program, and kubeconfigs and stacks already hold it. End that program "
            f"(`ss -ltnp 'sport = :{kept.apiserver}'` names it) and try again."
        )
    fresh = _fresh(file)
    ports = Ports(
        apiserver=kept.apiserver if kept else next(fresh),
        etcd=kept.etcd if kept and _free(kept.etcd) else next(fresh),
        kubelets=kept.kubelets if kept and _free(kept.kubelets) else next(fresh),
    )
    if ports != kept:
        replace_text(file, json.dumps(asdict(ports)))
    return ports


def read(file: Path) -> Ports | None:
    """Return the ports in `file`; None when there is no such file."""
    try:
        return Ports(**json.loads(file.read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise TwinError(f"The file {file} can't be read ({error}). Reset the twin to start anew.") from error


def listens(port: int) -> bool:
    """Return whether something listens on `port` of 127.0.0.1."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def _becomes_free(port: int) -> bool:
    """Wait a little: the system takes a moment to let go of the ports of a process that was just killed."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not _free(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _free(port: int) -> bool:
    try:
        # As servers do: a port whose earlier connections still linger counts as free.
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _fresh(file: Path) -> Iterator[int]:
    """Yield free ports, none of them kept by a control plane beside this one that may not be running."""
    kept = {port for other in file.parent.parent.glob(f"*/{file.name}") for port in _values(other)}
    for port in random.sample(_RANGE, len(_RANGE)):
        if port not in kept and _free(port):
            yield port
    raise TwinError(f"No free port is left from {_RANGE.start} to {_RANGE.stop} on 127.0.0.1.")


def _values(file: Path) -> tuple[int, ...]:
    ports = read(file)
    return tuple(asdict(ports).values()) if ports else ()
