"""A whole twin for the tests that need one: real engine, real control planes, in a folder of its own."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from twin.paths import TwinFolder


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--seeds 20` kills at more moments than an everyday run does."""
    parser.addoption("--seeds", type=int, default=3, help="how many seeded moments to kill `pulumi up` at")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests that ask for a `moment` one seed each."""
    if "moment" in metafunc.fixturenames:
        metafunc.parametrize("moment", range(metafunc.config.getoption("seeds")))


@dataclass(frozen=True)
class RunningTwin:
    """A twin that runs, and commands inside it."""

    folder: "TwinFolder"
    environment: dict[str, str]

    def run(
        self, *command: str | Path, cwd: Path | None = None, ok: bool | None = True, timeout: float = 240
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the twin; `ok` is whether it has to succeed, None when either is fine."""
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if ok is not None and (done.returncode == 0) is not ok:
            raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def kubectl(self, *arguments: str, ok: bool | None = True) -> str:
        """Run kubectl in the twin; returns what it prints."""
        return self.run("kubectl", *arguments, ok=ok).stdout.strip()


def start_twin(root: Path, name: str = "test", seed: Path | None = None) -> RunningTwin:
    """Start a twin whose data lies below `root`."""
    from twin import execute, lifecycle

    os.environ["AKSGPU_STATE_HOME"] = str(root)
    folder = lifecycle.start(name, lambda _: None, seed)
    environment = execute.environment(folder)
    execute.ensure_dev_stack(folder, environment)
    return RunningTwin(folder, environment)


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningTwin]:
    """One twin for the whole run; tests keep apart by resource group and stack."""
    from twin import lifecycle

    before = os.environ.get("AKSGPU_STATE_HOME")
    running = start_twin(tmp_path_factory.mktemp("twins"))
    yield running
    lifecycle.stop(running.folder.name)
    if before is None:
        del os.environ["AKSGPU_STATE_HOME"]
    else:
        os.environ["AKSGPU_STATE_HOME"] = before


@pytest.fixture
def faults(twin: RunningTwin) -> Iterator[Callable[[str], None]]:
    """Switch faults on; they are off again after the test."""
    from twin import faults as switches

    on: list[str] = []

    def switch(text: str) -> None:
        name, _, argument = text.partition("=")
        switches.switch(twin.folder.faults, name, argument or None, on=True)
        on.append(name)

    yield switch
    for name in on:
        switches.switch(twin.folder.faults, name, None, on=False)
