"""The packs on the real engine: every example of the book, and raw programs that a pack has to stop."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from aksgpu.rules.book import BOOK, rule
from tests.conftest import RunningTwin
from tests.engine.example_state import state_of
from tests.unit.rules.book_examples import CASES

CHECKOUT = Path(__file__).parents[2]
PACKS = (CHECKOUT / "policies", CHECKOUT / "policies" / "advice")
WAITS = "during preview"
"""What the SDK writes about a policy that needs a value which isn't known yet."""
EXAMPLE = re.compile(r"::(\d+)\.")
"""The index of an example in the URN of its resource."""


@pytest.fixture(scope="module")
def said(twin: RunningTwin, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], list[dict[str, str]]]:
    """What the packs say about every example: example index and policy to events."""
    file = tmp_path_factory.mktemp("state") / "state.json"
    file.write_text(state_of([example for _, example in CASES]))
    packs = [part for pack in PACKS for part in ("--policy-pack", pack)]
    done = twin.run("pulumi", "policy", "analyze", *packs, "--file", file, "--json", cwd=file.parent, ok=None)
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found: dict[tuple[int, str], list[dict[str, str]]] = defaultdict(list)
    for event in (event["policyEvent"] for event in events if "policyEvent" in event):
        for index in set(EXAMPLE.findall(event["message"] if WAITS in event["message"] else event["resourceUrn"])):
            found[int(index), event["policyName"]].append(event)
    assert found, done.stderr
    return found


def test_the_packs_say_of_every_example_what_its_rule_says(said: dict[tuple[int, str], list[dict[str, str]]]):
    wrong = []
    judged = 0
    for index, (entry, example) in enumerate(CASES):
        if example.before:
            continue  # a pack never sees what was there before
        judged += 1
        events = said.get((index, entry.name), [])
        undecided = bool(events) and all(WAITS in event["message"] for event in events)
        verdict = "pass" if not events else "undecided" if undecided else "fail"
        if verdict != example.verdict:
            wrong.append(f"{entry.name}, {example.title}: {verdict} instead of {example.verdict}")
    assert wrong == []
    assert judged >= 70


def test_violations_name_reason_fix_and_rule(said: dict[tuple[int, str], list[dict[str, str]]]):
    for (_, name), events in said.items():
        entry = rule(name)
        assert entry is not None
        for event in (event for event in events if WAITS not in event["message"]):
            assert event["enforcementLevel"] == ("mandatory" if entry.severity == "error" else "advisory")
            for part in (entry.summary, entry.why, entry.fix, entry.id, entry.name):
                assert part in event["message"]


def test_every_rule_that_a_pack_can_see_has_spoken(said: dict[tuple[int, str], list[dict[str, str]]]):
    spoken = {name for _, name in said}
    assert spoken == {entry.name for entry in BOOK} - {"gpu-field-changed-in-place"}


PROJECT = """\
name: raw
runtime:
  name: python
  options: {{virtualenv: {venv}}}
"""

PROGRAM = """\
import pulumi
from pulumi_azure_native import containerservice, resources

case = pulumi.Config().require("case")
group = resources.ResourceGroup("rg", resource_group_name=f"rg-raw-{case}", location="eastus")
cluster = containerservice.ManagedCluster(
    "cluster",
    resource_group_name=group.name,
    resource_name_=f"aks-{case}",
    location="eastus",
    dns_prefix="raw",
    kubernetes_version="1.34" if case == "old" else "1.35",
    node_provisioning_profile={"mode": "Auto"} if case == "nap" else None,
    identity={"type": "SystemAssigned"},
    agent_pool_profiles=[{"name": "system", "mode": "System", "count": 1, "vmSize": "Standard_D4s_v5"}],
)
nvidia = {"managementMode": "Unmanaged" if case == "unmanaged" else "Managed", "driverMode": "DRA"}
properties = {"vmSize": "Standard_NC24ads_A100_v4", "count": 1, "gpuProfile": {"nvidia": nvidia}}
if case == "autoscaler":
    properties |= {"enableAutoScaling": True, "minCount": 1, "maxCount": 2}
if case == "later":
    properties["enableAutoScaling"] = cluster.id.apply(lambda _: False)
if case == "acl":
    properties["osSKU"] = "AzureContainerLinux"
if case == "typed":
    containerservice.AgentPool(
        "gpunp",
        agent_pool_name="gpunp",
        resource_group_name=group.name,
        resource_name_=cluster.name,
        vm_size="Standard_NC24ads_A100_v4",
        gpu_profile={"nvidia": nvidia},
    )
else:
    resources.Resource(
        "gpunp",
        api_version="2026-08-02-preview",
        resource_group_name=group.name,
        resource_provider_namespace="Microsoft.ContainerService",
        parent_resource_path=cluster.name.apply(lambda name: f"managedClusters/{name}"),
        resource_type="agentPools",
        resource_name_="gpunp",
        properties=properties,
    )
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    (folder / "Pulumi.yaml").write_text(PROJECT.format(venv=CHECKOUT / ".venv"))
    (folder / "__main__.py").write_text(PROGRAM)
    return folder


def preview(twin: RunningTwin, project: Path, case: str, *, ok: bool) -> str:
    twin.run("pulumi", "stack", "select", "--create", case, cwd=project)
    twin.run("pulumi", "config", "set", "--stack", case, "case", case, cwd=project)
    done = twin.run("pulumi", "preview", "--stack", case, "--policy-pack", PACKS[0], cwd=project, ok=ok)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("autoscaler", "dra-with-autoscaler"),
        ("old", "dra-cluster-version"),
        ("acl", "dra-os-sku"),
        ("unmanaged", "dra-needs-managed-gpu"),
        ("typed", "driver-mode-lost"),
        ("nap", "dra-with-node-autoprovisioning"),
    ],
)
def test_a_raw_program_fails_its_preview(twin: RunningTwin, project: Path, case: str, name: str):
    entry = rule(name)
    assert entry is not None
    output = preview(twin, project, case, ok=False)
    assert "[mandatory]" in output
    for part in (name, entry.why, entry.fix):
        assert part in output
    others = {other.name for other in BOOK if other.name in output} - {name}
    assert others == set()


def test_a_right_program_passes(twin: RunningTwin, project: Path):
    assert "[mandatory]" not in preview(twin, project, "right", ok=True)


def test_what_a_preview_does_not_know_is_an_advisory(twin: RunningTwin, project: Path):
    output = preview(twin, project, "later", ok=True)
    assert "[mandatory]" not in output
    assert re.search(r"\[advisory\].*dra-with-autoscaler", output)
    assert "enableAutoScaling" in output
