"""What `aksgpu check` costs beside loading the same files and beside another checker, and how fast the overview is."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.report import Ratio, show
from tests.fixtures import ordinary

COMMAND = Path(sys.executable).with_name("aksgpu")
LOAD = """\
import pathlib, sys, yaml
for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    list(yaml.load_all(file.read_bytes(), yaml.CSafeLoader))
"""
CHECKOV = "checkov==3.3.30"
IMPORTS = 0.15
"""Seconds that a command line may take for its imports."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 0 when the promises are kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--manifests", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="aksgpu-check-") as folder:
        files = Path(folder) / "manifests"
        files.mkdir()
        for name, text in ordinary.manifests(asked.manifests):
            (files / name).write_text(text)
        return show(_measure(files, Path(folder), asked.rounds))


def _measure(files: Path, folder: Path, rounds: int) -> list[Ratio]:
    check = _fastest(folder, rounds, COMMAND, "check", files)
    load = _fastest(folder, rounds, sys.executable, "-c", LOAD, files)
    overview = _fastest(folder, 5 * rounds, COMMAND, "--help")
    nothing = _fastest(folder, 5 * rounds, sys.executable, "-c", "pass")
    what = f"aksgpu check on {len(list(files.iterdir()))} manifests"
    ratios = [
        Ratio(f"{what} / loading them with libyaml", check, load, 3.0),
        Ratio("aksgpu --help / 2 x python -c pass + 150 ms", overview, 2 * nothing + IMPORTS, 1.0),
    ]
    other = _checkov(folder)
    if other is None:
        print(f"{CHECKOV} could not be installed here, so there is nothing to compare with.", flush=True)
        return ratios
    checkov = _fastest(folder, 1, other, "--framework", "kubernetes", "--compact", "--quiet", "--directory", files)
    return [*ratios, Ratio(f"{what} / checkov", check, checkov, 0.1)]


def _fastest(folder: Path, rounds: int, *command: object) -> float:
    """Return the time of the fastest run, which noise can only raise; the first leaves bytecode, as installers do."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    return min(_time(lambda: _run(environment, *command)) for _ in range(rounds + 1))


def _run(environment: Mapping[str, str], *command: object) -> None:
    """Run a command; that it finds something wrong is no failure of the measurement."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, env=dict(environment)
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")


def _time(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _checkov(folder: Path) -> Path | None:
    """Return checkov in an environment of its own; None when it can't be installed."""
    environment = folder / "checkov"
    uv = shutil.which("uv") or str(Path(".uv/bin/uv"))
    steps = (
        ["venv", "--quiet", "--python", sys.executable, str(environment)],
        ["pip", "install", "--quiet", "--python", str(environment / "bin" / "python"), CHECKOV],
    )
    try:
        for step in steps:
            subprocess.run([uv, *step], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return environment / "bin" / "checkov"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
