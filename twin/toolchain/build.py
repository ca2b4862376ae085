"""Builds groups of tools into the cache, each either complete or not there at all."""

import contextlib
import fcntl
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from twin.errors import TwinError
from twin.paths import cache_root
from twin.toolchain import golang
from twin.toolchain.golang import Go
from twin.toolchain.groups import Group, oldest_go, sources

_KEPT_RESULTS = 4
_FREE_BYTES = 2 * 1024**3
"""Below this a first build is bound to fail: sources, Go's own build cache and the results share the disk."""
_STILL_SECONDS = 60
_NO_NETWORK = ("dial tcp", "i/o timeout", "no such host", "connection refused", "TLS handshake", "proxyconnect")

Report = Callable[[str], None]
"""Receives one line of progress at a time."""


def result(group: Group, go: Go) -> Path:
    """Return the folder that holds the programs of `group` once they are built."""
    return _tools() / f"{group.name}-{group.fingerprint(go.fingerprint)}"


def build(group: Group, go: Go, report: Report) -> Path:
    """Build `group` unless that was done before; returns the folder with its programs.

    Builds of one group wait for each other. Raises TwinError, with the end of Go's own words, when it fails.
    """
    for module in group.modules:
        go.require(oldest_go(module / "go.mod"))
    try:
        _tools().mkdir(parents=True, exist_ok=True)
        with _lock(group, report):
            target = result(group, go)
            if not target.exists():
                _check_space(_tools())
                _remove_stale(group)
                with _scratch(group) as scratch:
                    _build_into(scratch, group, go, report)
                    (scratch / "programs").rename(target)
                _remove_oldest(group)
            return target
    except OSError as error:
        raise TwinError(
            f"The tools can't be stored: {error.strerror or error} ({error.filename or _tools()}). Make room or "
            "mend the permissions there, or move the cache with AKSGPU_CACHE_HOME, then try again."
        ) from error


def _tools() -> Path:
    return cache_root() / "tools"


@contextlib.contextmanager
def _lock(group: Group, report: Report) -> Generator[None]:
    """Hold the group's lock; the system lets go of it however this process ends."""
    with (_tools() / f"{group.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"waiting for another build of {_names(group)} to finish")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _names(group: Group) -> str:
    return ", ".join(program.name for program in group.programs)


def _prefix(group: Group) -> str:
    return f".scratch-{group.name}@"


def _remove_stale(group: Group) -> None:
    """Remove what a killed build left; the lock says that none is running."""
    for path in _tools().glob(f"{_prefix(group)}*"):
        shutil.rmtree(path, ignore_errors=True)


def _remove_oldest(group: Group) -> None:
    """Keep the newest few results of a group: other checkouts may use them, but not for ever."""
    results = sorted(_tools().glob(f"{group.name}-{'?' * 12}"), key=lambda path: path.stat().st_mtime)
    for path in results[:-_KEPT_RESULTS]:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _scratch(group: Group) -> Generator[Path]:
    # Beside the result, so that moving it there is one step of the file system.
    with tempfile.TemporaryDirectory(dir=_tools(), prefix=_prefix(group)) as folder:
        scratch = Path(folder)
        (scratch / "programs").mkdir()
        yield scratch


def _check_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _FREE_BYTES:
        raise TwinError(
            f"Building tools needs {_FREE_BYTES >> 30} GiB of free disk and {folder} has {free >> 20} MiB. "
            "Make room, or move the cache with AKSGPU_CACHE_HOME, then try again."
        )


def _build_into(scratch: Path, group: Group, go: Go, report: Report) -> None:
    for program in group.programs:
        folder = _sources(scratch, program.module)
        report(f"building {program.name}, about {program.minutes:.1f} min the first time on 2 cores")
        began = time.monotonic()
        for wanted in program.copies:
            said = _run(go, ["mod", "download", "-json", wanted.module], folder, program.name, report)
            source = Path(json.loads(said)["Dir"]) / wanted.path
            beside = folder if wanted.beside == "sources" else scratch / "programs"
            shutil.copyfile(source, beside / source.name)
        output = scratch / "programs" / program.name
        command = ["build", *program.build_flags(), "-o", str(output), program.package]
        _run(go, command, folder, program.name, report)
        report(f"built {program.name} in {_duration(time.monotonic() - began)}")


def _sources(scratch: Path, module: Path) -> Path:
    """Return a copy of the module: what is embedded is put beside its sources, and a checkout stays clean."""
    folder = scratch / module.name
    for source in sources(module):
        copy = folder / source.relative_to(module)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    return folder


def _run(go: Go, arguments: Sequence[str], folder: Path, what: str, report: Report) -> str:
    """Run Go and return what it printed; says that it still runs about once a minute."""
    with subprocess.Popen(
        [go.path, *arguments],
        cwd=folder,
        env=golang.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            output, complaints = _communicate(process, what, report)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise TwinError(_failure(what, complaints or output))
    return output


def _communicate(process: subprocess.Popen[str], what: str, report: Report) -> tuple[str, str]:
    began = time.monotonic()
    while True:
        try:
            return process.communicate(timeout=_STILL_SECONDS)
        except subprocess.TimeoutExpired:
            report(f"still building {what}, {_duration(time.monotonic() - began)} so far")


def _failure(what: str, complaints: str) -> str:
    end = "\n".join(complaints.strip().splitlines()[-8:])
    if "no space left on device" in complaints:
        hint = "The disk is full: make room (`go clean -cache` frees Go's own cache) and try again."
    elif any(sign in complaints for sign in _NO_NETWORK):
        hint = "Go can't reach its modules: check the network and `go env GOPROXY`, then try again."
    else:
        hint = "Mend what Go complains about and try again."
    return f"Building {what} failed. {hint} The end of what Go said:\n{end}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
