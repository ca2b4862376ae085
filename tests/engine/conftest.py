"""The dev stack on the twin, brought up once, and inline stacks beside it."""

import hashlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aksgpu.readers.azure import Azure
from aksgpu.readers.kube import Kube
from components import live
from tests.engine.inline_stack import InlineStack
from twin import execute
from twin.account import SUBSCRIPTION
from twin.paths import CHECKOUT

if TYPE_CHECKING:
    from tests.conftest import RunningTwin

STACK_FILES = ("Pulumi.yaml", "Pulumi.dev.yaml")
NUMBERS = itertools.count()
READ_BY_COMPONENTS = ("AKSGPU_ARM_ENDPOINT", "AKSGPU_ARM_TOKEN_FILE", "REQUESTS_CA_BUNDLE", "KUBECONFIG")


def fingerprint() -> dict[str, str]:
    """Return what the tracked stack files contain, shortened."""
    return {file: hashlib.sha256((CHECKOUT / file).read_bytes()).hexdigest() for file in STACK_FILES}


@dataclass(frozen=True)
class Dev:
    """The dev stack of this checkout, up on the twin."""

    twin: "RunningTwin"
    stack_files: dict[str, str]
    """Fingerprint before the first command."""

    @property
    def azure(self) -> Azure:
        return Azure(SUBSCRIPTION)

    @property
    def kube(self) -> Kube:
        return Kube()

    def preview(self, *options: str, ok: bool | None = True) -> str:
        """Preview the checkout's program; returns everything it printed."""
        command = ("pulumi", "preview", "--stack", "dev", "--non-interactive", *options)
        done = self.twin.run(*command, cwd=CHECKOUT, ok=ok)
        return done.stdout + done.stderr


@pytest.fixture(scope="session")
def dev(twin: "RunningTwin") -> Dev:
    """The dev stack, up; its cluster is the one that other stacks use as an existing one."""
    before = fingerprint()
    execute.ensure_dev_stack(twin.folder, twin.environment)
    twin.run("pulumi", "up", "--yes", "--skip-preview", "--stack", "dev", "--non-interactive", cwd=CHECKOUT)
    return Dev(twin, before)


@pytest.fixture
def in_twin(twin: "RunningTwin", monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let components of inline programs, which run in this process, read the twin."""
    for name in READ_BY_COMPONENTS:
        monkeypatch.setenv(name, twin.environment[name])
    live.azure.cache_clear()
    live.kube.cache_clear()
    yield
    live.azure.cache_clear()
    live.kube.cache_clear()


@pytest.fixture
def stack(twin: "RunningTwin", in_twin: None, tmp_path: Path) -> Iterator[Callable[[], InlineStack]]:
    """Make stacks with inline programs on the twin; each is destroyed after the test."""
    made: list[InlineStack] = []

    def make() -> InlineStack:
        name = f"inline-{next(NUMBERS)}"
        made.append(InlineStack(twin.folder.bin, twin.environment, tmp_path / name, name))
        return made[-1]

    yield make
    for each in made:
        each.destroy()
