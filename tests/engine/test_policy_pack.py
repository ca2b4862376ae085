"""The packs on the real engine: every example of the book, and raw programs that a pack has to stop."""

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from aksgpu.rules.book import BOOK, rule
from aksgpu.rules.examples import Example
from aksgpu.rules.model import Rule
from tests.conftest import RunningTwin
from tests.engine.analyze import CHECKOUT, EXAMPLE, PACKS, Said, analyze
from tests.engine.example_state import as_resources, state_of
from tests.unit.rules.book_examples import CASES, verdict

PACK = """\
from datetime import date

from pulumi_policy import PolicyPack

from aksgpu.packs import {pack}

PolicyPack(name="aksgpu-{pack}", policies={pack}(date.fromisoformat("{today}")))
"""
"""A pack on another day."""


class Run(NamedTuple):
    """Examples that one run of the packs can judge together."""

    today: str | None
    alone: int | None
    """The example that needs a state of its own: nothing tells its two clusters apart."""


def run_of(index: int, example: Example) -> Run:
    kinds = [item.type.casefold() for item in as_resources(example)]
    clusters = sum(kind.endswith(":managedcluster") for kind in kinds)
    alone = clusters > 1 and any(kind.startswith("kubernetes:") for kind in kinds)
    return Run(example.today.isoformat() if example.today else None, index if alone else None)


def expressible(entry: Rule, example: Example) -> bool:
    """Whether a pack can be shown it at all: never what was there before, nor what only the command line can say."""
    dated = example.today is None and entry.name in DATED
    return entry.in_packs and not (example.before or example.advertiser or dated)


def expected(entry: Rule, example: Example) -> str:
    """What a pack has to say: what the example says, but a program's charts need not be all of a cluster's."""
    if example.values is None:
        return example.verdict
    return verdict(entry, Example(example.title, example.verdict, tuple(as_resources(example)), today=example.today))


DATED = {entry.name for entry, example in CASES if example.today}
"""Rules that ask for the day, which a pack always knows."""
EXPRESSIBLE = [index for index, (entry, example) in enumerate(CASES) if expressible(entry, example)]


@pytest.fixture(scope="module")
def said(twin: RunningTwin, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], list[Said]]:
    """What the packs say about every example, by its index and the policy."""
    runs: dict[Run, list[tuple[int, Example]]] = defaultdict(list)
    for index in EXPRESSIBLE:
        example = CASES[index][1]
        runs[run_of(index, example)].append((index, example))
    found: dict[tuple[int, str], list[Said]] = defaultdict(list)
    for run, examples in runs.items():
        folder = tmp_path_factory.mktemp("run")
        packs = PACKS if run.today is None else packs_of(run.today, folder)
        for event in analyze(twin, state_of(examples, identified=run.alone is None), folder, packs):
            if match := EXAMPLE.search(event.urn):
                found[int(match[1]), event.policy].append(event)
    assert found
    return found


def packs_of(today: str, folder: Path) -> list[Path]:
    """The packs as they are on another day."""
    made = [folder / "guardrails", folder / "advice"]
    for pack in made:
        pack.mkdir()
        settings = f"runtime:\n  name: python\n  options: {{virtualenv: {CHECKOUT / '.venv'}}}\n"
        (pack / "PulumiPolicy.yaml").write_text(settings)
        (pack / "__main__.py").write_text(PACK.format(pack=pack.name, today=today))
    return made


def test_the_packs_say_of_every_example_what_its_rule_says(said: dict[tuple[int, str], list[Said]]):
    wrong = []
    for index in EXPRESSIBLE:
        entry, example = CASES[index]
        events = said.get((index, entry.name), [])
        pack = "pass" if not events else "undecided" if all(event.waits for event in events) else "fail"
        if pack != (wanted := expected(entry, example)):
            wrong.append(f"{entry.name}, {example.title}: {pack} instead of {wanted}")
    assert not wrong, "\n".join(wrong)


def test_nearly_every_example_was_shown_to_the_packs():
    shown = {CASES[index][0].name for index in EXPRESSIBLE}
    assert shown == {entry.name for entry in BOOK if entry.in_packs}
    assert len(EXPRESSIBLE) >= 250
    assert len(EXPRESSIBLE) >= 0.85 * len(CASES)
    as_stated = [expected(*CASES[index]) == CASES[index][1].verdict for index in EXPRESSIBLE]
    assert sum(as_stated) >= 0.95 * len(EXPRESSIBLE)


def test_violations_name_reason_fix_and_rule(said: dict[tuple[int, str], list[Said]]):
    for (_, name), events in said.items():
        entry = rule(name)
        assert entry is not None
        for event in (event for event in events if not event.waits):
            assert event.level == ("mandatory" if entry.severity == "error" else "advisory")
            for part in (entry.summary, entry.why, entry.fix, entry.id, entry.name):
                assert part in event.message


def test_every_rule_that_a_pack_can_see_has_spoken(said: dict[tuple[int, str], list[Said]]):
    assert {name for _, name in said} == {entry.name for entry in BOOK if entry.in_packs}


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
