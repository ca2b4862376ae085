"""The Go on this machine."""

import functools
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from twin.errors import TwinError


@dataclass(frozen=True)
class Go:
    """A Go toolchain."""

    path: Path
    version: str
    """E.g. `1.26.8`."""
    platform: str
    """E.g. `linux/amd64`."""

    @property
    def fingerprint(self) -> str:
        """What of it decides how a build comes out."""
        return f"go{self.version} {self.platform}"

    def require(self, oldest: str) -> None:
        """Raise TwinError when this Go is older than `oldest`."""
        if _numbers(self.version) < _numbers(oldest):
            raise TwinError(
                f"Building the tools needs Go {oldest} or newer; {self.path} is {self.version}. "
                "Install a newer one (https://go.dev/dl/), first on PATH, and try again."
            )


def environment() -> dict[str, str]:
    """Return the environment for running Go: the person's own proxy settings, our way to build.

    Go must neither fetch another version of itself, nor change pins, nor see a workspace or a version
    control system around the sources.
    """
    own = {
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
    }
    return {**os.environ, **own}


def find() -> Go | None:
    """Return the Go on PATH, or None when there is none that answers."""
    path = shutil.which("go")
    return None if path is None else _ask(path)


@functools.cache
def _ask(path: str) -> Go | None:
    try:
        done = subprocess.run(
            [path, "env", "-json", "GOVERSION", "GOOS", "GOARCH"],
            env=environment(),
            cwd="/",
            capture_output=True,
            check=True,
            timeout=30,
        )
        said = json.loads(done.stdout)
        return Go(Path(path), said["GOVERSION"].removeprefix("go"), f"{said['GOOS']}/{said['GOARCH']}")
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return None


def need() -> Go:
    """Return the Go on PATH; raises TwinError when there is none."""
    go = find()
    if go is None:
        raise TwinError(
            "Some tools have to be built and Go isn't on PATH. Install it (https://go.dev/dl/) and try again; "
            "`aksgpu twin status` lists the tools."
        )
    return go


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])
