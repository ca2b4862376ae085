"""Runs packs over a state by `pulumi policy analyze`, and sorts what they say."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.conftest import RunningTwin

CHECKOUT = Path(__file__).parents[2]
PACKS = (CHECKOUT / "policies", CHECKOUT / "policies" / "advice")
_WAITS = "during preview"
"""What the SDK writes about a policy that needs a value which isn't known yet."""
_URN = re.compile(r"urn:pulumi:[^\s:]+(?:::?[^\s:]+)+")

EXAMPLE = re.compile(r"::(\d+)\.[^:]+$")
"""The index of an example in the URN of its resource."""


class Said(NamedTuple):
    """One thing that a policy says."""

    policy: str
    urn: str
    message: str
    level: str

    @property
    def waits(self) -> bool:
        """Whether it waits for a value that isn't known yet."""
        return _WAITS in self.message


def analyze(
    twin: RunningTwin, state: str, folder: Path, packs: Sequence[Path] = PACKS, configs: Sequence[Path] = ()
) -> list[Said]:
    """Return everything that packs say about a state; `configs` belong to the packs in their order."""
    file = folder / "state.json"
    file.write_text(state)
    arguments = [part for pack in packs for part in ("--policy-pack", pack)]
    arguments += [part for config in configs for part in ("--policy-pack-config", config)]
    done = twin.run("pulumi", "policy", "analyze", *arguments, "--file", file, "--json", cwd=folder, ok=None)
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    # A pack that could not run says nothing, which must not look like a state without findings.
    assert any("summaryEvent" in event or "policyEvent" in event for event in events), done.stdout + done.stderr
    return [said for event in events if "policyEvent" in event for said in _said(event["policyEvent"])]


def _said(event: dict[str, Any]) -> list[Said]:
    """One event names one resource, but for what waits: the text names several there."""
    message = event["message"]
    urns = _URN.findall(message) if _WAITS in message else [event.get("resourceUrn", "")]
    return [Said(event["policyName"], urn.rstrip(":"), message, event["enforcementLevel"]) for urn in set(urns)]
