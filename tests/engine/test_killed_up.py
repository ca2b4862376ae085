"""`pulumi up` and `destroy` killed: `aksgpu up` converges each time, with nothing doubled, lost or foreign."""

import json
import random
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.conftest import RunningTwin, start_twin
from twin import lifecycle
from twin.paths import CHECKOUT

LONGEST_SECONDS = 12.0
"""A little more than a whole `up` takes on two cores, so that late moments are hit, too."""


def _state(twin: RunningTwin) -> dict[str, object]:
    exported = twin.run("pulumi", "stack", "export", "--stack", "dev", cwd=CHECKOUT).stdout
    return json.loads(exported)["deployment"] or {}


def _urns(twin: RunningTwin) -> list[str]:
    return sorted(resource["urn"] for resource in _state(twin)["resources"])  # ty: ignore[not-iterable]


@pytest.fixture(scope="module")
def own_twin(twin: RunningTwin) -> Iterator[RunningTwin]:
    """A second twin, since other tests count on the dev stack of the first."""
    yield start_twin(twin.folder.root.parent.parent, "killed")
    lifecycle.reset("killed")


@pytest.fixture(scope="module")
def expected(own_twin: RunningTwin) -> list[str]:
    """The resources of an undisturbed run."""
    own_twin.run("aksgpu", "up", "--stack", "dev", cwd=CHECKOUT)
    urns = _urns(own_twin)
    own_twin.run("aksgpu", "down", "--stack", "dev", cwd=CHECKOUT)
    return urns


def _start_and_kill(twin: RunningTwin, command: list[str], seconds: float) -> None:
    process = subprocess.Popen(
        ["pulumi", *command, "--yes", "--skip-preview", "--non-interactive", "--stack", "dev"],
        cwd=CHECKOUT,
        env=twin.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_up_converges_after_a_kill(own_twin: RunningTwin, expected: list[str], moment: int) -> None:
    twin = own_twin
    seconds = random.Random(moment).uniform(0.5, LONGEST_SECONDS)
    _start_and_kill(twin, ["up"], seconds)
    again = twin.run("aksgpu", "up", "--stack", "dev", cwd=CHECKOUT, ok=None)
    assert again.returncode == 0, f"killed after {seconds:.1f} s\n{again.stdout}\n{again.stderr}"
    assert _urns(twin) == expected
    assert not _state(twin).get("pending_operations")
    assert twin.kubectl("get", "jobs,resourceclaims", "-A", "-o", "name").splitlines() == [
        "job.batch/gpu-dra-validation",
        "resourceclaim.resource.k8s.io/gpu-claim",
    ]
    twin.run("pulumi", "preview", "--stack", "dev", "--expect-no-changes", cwd=CHECKOUT)
    twin.run("aksgpu", "down", "--stack", "dev", cwd=CHECKOUT)
    assert not _state(twin).get("resources")


def test_down_and_up_converge_after_a_killed_destroy(own_twin: RunningTwin, expected: list[str]) -> None:
    for seconds in (2.5, 4.0):
        own_twin.run("aksgpu", "up", "--stack", "dev", cwd=CHECKOUT)
        _start_and_kill(own_twin, ["destroy"], seconds)
        own_twin.run("aksgpu", "up", "--stack", "dev", cwd=CHECKOUT)
        assert _urns(own_twin) == expected
    _start_and_kill(own_twin, ["destroy"], 3.0)
    own_twin.run("aksgpu", "down", "--stack", "dev", cwd=CHECKOUT)
    assert not _state(own_twin).get("resources")
