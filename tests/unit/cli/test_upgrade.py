"""Which cluster `aksgpu upgrade plan` plans for."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from aksgpu.cli import upgrade
from aksgpu.errors import AksgpuError
from tests.unit.upgrade.clusters import cluster

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
CONFIG: dict[str, Any] = {
    "azure-native:subscriptionId": SUBSCRIPTION,
    "aksgpu:cluster": {"use": {"resourceGroup": "rg-shared", "name": "aks-shared"}},
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The clusters that Azure was asked about, and the stacks that were looked up."""
    found: list[tuple[str, ...]] = []

    def here(stack: str) -> SimpleNamespace:
        found.append(("stack", stack))
        return SimpleNamespace(config=lambda: CONFIG)

    def read(*place: str) -> object:
        found.append(place)
        return cluster("1.34.5")

    monkeypatch.setattr(upgrade.Stack, "here", here)
    monkeypatch.setattr(upgrade.upgrades, "read", read)
    return found


def test_a_cluster_by_name(asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "of-the-environment")
    assert upgrade.plan(resource_group="rg", name="aks") == 0
    assert upgrade.plan(resource_group="rg", name="aks", subscription="given") == 0
    assert asked == [("of-the-environment", "rg", "aks"), ("given", "rg", "aks")]


@pytest.mark.parametrize(("given", "stack"), [(None, "dev"), ("prod", "prod")])
def test_the_cluster_of_a_stack(given: str | None, stack: str, asked: list[tuple[str, ...]]):
    assert upgrade.plan(stack=given) == 0
    assert asked == [("stack", stack), (SUBSCRIPTION, "rg-shared", "aks-shared")]


@pytest.mark.parametrize(
    ("group", "name", "stack"), [(None, "aks", None), ("rg", None, None), ("rg", None, "prod"), ("rg", "aks", "prod")]
)
def test_half_a_cluster_or_two_are_bad_usage(
    group: str | None, name: str | None, stack: str | None, asked: list[tuple[str, ...]]
):
    with pytest.raises(AksgpuError, match="both --resource-group and --name, or with --stack alone"):
        upgrade.plan(resource_group=group, name=name, stack=stack)
    assert asked == []


def test_exit_codes_and_json(asked: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]):
    assert upgrade.plan(to="1.35", format="json") == 0
    assert json.loads(capsys.readouterr().out)["minutes"] == {"low": 5, "high": 20}
    assert upgrade.plan(to="1.33", format="json") == 1
    assert "never takes a cluster back" in json.loads(capsys.readouterr().out)["refusal"]["reason"]
