"""A twin filled from a file: what is accepted, what is refused, and what is there afterwards."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from azure.mgmt.containerservice import ContainerServiceClient

from tests.azure.harness import Endpoint
from twin import seed
from twin.errors import TwinError

SEED = """
today: 2026-08-20
quotas: {StandardNCADSA100v4Family: 48}
subscriptions: {11111111-0000-0000-0000-000000000001: team}
features: [ManagedGPUExperiencePreview]
clusters:
  - resourceGroup: rg-shared
    name: aks-shared
    kubernetesVersion: "1.35"
    tags: {owner: platform}
    properties: {disableLocalAccounts: true}
    pools:
      - {name: sys, mode: System, count: 1, vmSize: Standard_D4s_v5}
      - {name: old, count: 1, vmSize: Standard_NC24ads_A100_v4, orchestratorVersion: "1.34"}
      - name: gpunp
        count: 1
        vmSize: Standard_NC24ads_A100_v4
        gpuProfile: {nvidia: {managementMode: Managed, driverMode: DRA}}
"""


@pytest.fixture
def fresh(tmp_path: Path) -> Any:
    endpoint = Endpoint(tmp_path / "twin")
    yield endpoint
    endpoint.stop()


def _apply(text: str, endpoint: Endpoint, tmp_path: Path) -> list[str]:
    file = tmp_path / "seed.yaml"
    file.write_text(text)
    lines: list[str] = []
    seed.apply(seed.load(file), endpoint.url, endpoint.folder.token.read_text(), endpoint.folder.ca, lines.append)
    return lines


def test_a_seed_fills_a_twin(fresh: Endpoint, tmp_path: Path) -> None:
    lines = _apply(SEED, fresh, tmp_path)
    assert lines[-1] == "creating the pool gpunp of aks-shared"
    settings = fresh.azure.service.settings
    assert settings.today == dt.date(2026, 8, 20)
    assert len(settings.subscriptions) == 2
    aks = fresh.client(ContainerServiceClient)
    shown = aks.managed_clusters.get("rg-shared", "aks-shared")
    pools = {pool.name: pool.current_orchestrator_version for pool in shown.properties.agent_pool_profiles}
    assert pools == {"sys": "1.35.4", "old": "1.34.5", "gpunp": "1.35.4"}
    assert (shown.tags, shown.properties.disable_local_accounts) == ({"owner": "platform"}, True)
    modes = {node.pool: node.gpu_mode for node in fresh.cluster("aks-shared", "rg-shared").plan.nodes}
    assert modes == {"sys": "none", "old": "driver-only", "gpunp": "dra"}


def test_what_azure_refuses_is_one_paragraph(fresh: Endpoint, tmp_path: Path) -> None:
    with pytest.raises(TwinError, match=r"pool gpunp of aks-shared could not be made.*PreviewFeatureNotRegistered"):
        _apply(SEED.replace("features: [ManagedGPUExperiencePreview]", ""), fresh, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("todya: 2026-01-01", "There is no key 'todya'; allowed are today, minuteSeconds, subscriptions"),
        ("clusters: [{nmae: x}]", "There is no key 'clusters.0.nmae'; allowed are resourceGroup, name"),
        ("clusters: [{name: x, resourceGroup: y, pools: []}]", "clusters.0.pools: List should have at least 1"),
        ("features: [Other]", "features.0: Input should be 'ManagedGPUExperiencePreview'"),
        ("a: [", "is not YAML"),
        ("- 1", "the file: Input should be a valid dictionary"),
        (
            "clusters: [{name: x, resourceGroup: y, pools: [{name: a}], workloads: [none.yaml]}]",
            "names workloads 'none.yaml', which don't exist there",
        ),
    ],
)
def test_a_wrong_seed_names_file_and_key(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(TwinError) as caught:
        seed.load(file)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)


def test_a_seed_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TwinError, match=r"none\.yaml can't be read: No such file"):
        seed.load(tmp_path / "none.yaml")
