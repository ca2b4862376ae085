"""A twin of the benchmark's own, in a temporary folder."""

import os
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from twin import execute, lifecycle
from twin.paths import TwinFolder


@dataclass(frozen=True)
class Inside:
    """A twin that runs, and timed commands in it."""

    folder: TwinFolder
    environment: dict[str, str]

    def seconds(self, *command: str, cwd: Path | None = None) -> float:
        """Run a command in the twin and return how long it took; what it said is shown when it fails."""
        begin = time.monotonic()
        done = subprocess.run(
            command,
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
        return time.monotonic() - begin


@contextmanager
def running_twin() -> Generator[Inside]:
    """Start a twin, and forget it at the end."""
    with tempfile.TemporaryDirectory(prefix="aksgpu-benchmark-") as root:
        os.environ["AKSGPU_STATE_HOME"] = root
        folder = lifecycle.start("benchmark", print)
        try:
            environment = execute.environment(folder)
            execute.ensure_dev_stack(folder, environment)
            yield Inside(folder, environment)
        finally:
            lifecycle.stop("benchmark")
