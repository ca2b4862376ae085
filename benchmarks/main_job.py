"""What components, live checks and the policy pack cost: the dev stack against the same resources written bare."""

import argparse
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.inside import Inside, running_twin
from benchmarks.report import Ratio, show
from twin.paths import CHECKOUT

BARE = Path(__file__).parent / "bare"
_UP = ("pulumi", "up", "--yes", "--skip-preview", "--non-interactive")
_DESTROY = ("pulumi", "destroy", "--yes", "--skip-preview", "--non-interactive")
_OURS = "import aksgpu.settings, components"
_SDKS = """
from pulumi_azure_native import authorization, containerservice, resources
containerservice.ManagedCluster, containerservice.AgentPool, resources.Resource, authorization.get_client_config
from pulumi_kubernetes.batch.v1 import Job
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.resource.v1 import DeviceClass
"""
"""The SDKs import a module when one of its classes is first named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0 when the goals are met, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args(arguments).rounds
    with running_twin() as twin:
        try:
            twin.seconds("pulumi", "stack", "init", "bare", cwd=BARE)
            # Once before the clock runs, so that the preview feature is registered for both.
            _both(twin)
            ours, bare = zip(*(_both(twin) for _ in range(rounds)), strict=True)
        finally:
            (BARE / "Pulumi.bare.yaml").unlink(missing_ok=True)
    imports = [_import(_OURS) for _ in range(rounds)], [_import(_SDKS) for _ in range(rounds)]
    return show(
        [
            Ratio("pulumi up of the dev stack, with the pack / bare", min(ours), min(bare), 1.3),
            Ratio("importing the program / the SDK modules it needs", min(imports[0]), min(imports[1]), 1.15),
        ]
    )


def _both(twin: Inside) -> tuple[float, float]:
    """Deploy both from nothing, one after the other, and destroy them again; returns both times."""
    ours = twin.seconds(*_UP, "--stack", "dev", "--policy-pack", str(CHECKOUT / "policies"), cwd=CHECKOUT)
    twin.seconds(*_DESTROY, "--stack", "dev", cwd=CHECKOUT)
    bare = twin.seconds(*_UP, "--stack", "bare", cwd=BARE)
    twin.seconds(*_DESTROY, "--stack", "bare", cwd=BARE)
    return ours, bare


def _import(code: str) -> float:
    """Return the processor seconds of a new interpreter that runs `code`: unlike wall time, little else moves them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
