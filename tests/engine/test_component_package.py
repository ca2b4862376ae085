"""The components as a package for every Pulumi language: the pinned schema, and a YAML program on the twin."""

import json
from pathlib import Path
from typing import Any

from tests.conftest import RunningTwin
from tests.engine.conftest import Dev
from twin.paths import CHECKOUT

SCHEMA = Path(__file__).parent / "component-schema.json"
COMPONENTS = CHECKOUT / "components"

PROGRAM = f"""
name: yaml-pool
runtime: yaml
packages:
  aksgpu: {COMPONENTS}
resources:
  cluster:
    type: aksgpu:Cluster
    properties:
      use: {{resourceGroup: rg-aksgpu-dev, name: aks-dev}}
  pool:
    type: aksgpu:NodePool
    properties:
      name: yamlnp
      vmSize: Standard_NC24ads_A100_v4
      count: SIZE
      osSku: SKU
      previewFeature: register
      resourceGroupName: ${{cluster.resourceGroupName}}
      clusterName: ${{cluster.clusterName}}
      kubernetesVersion: ${{cluster.kubernetesVersion}}
      nodeProvisioning: ${{cluster.nodeProvisioning}}
outputs:
  accepted: ${{pool.accepted}}
"""


def test_the_schema_is_the_pinned_one(twin: RunningTwin, tmp_path: Path):
    """A change here changes every program in another language: `pulumi package get-schema ./components` anew."""
    schema = json.loads(twin.run("pulumi", "package", "get-schema", COMPONENTS, cwd=tmp_path).stdout)
    assert schema == json.loads(SCHEMA.read_text())


def test_every_input_and_type_is_described():
    schema = json.loads(SCHEMA.read_text())
    described = {f"{name}.{key}": value for name, value in _properties(schema).items() for key, value in value.items()}
    assert len(described) > 50
    assert [name for name, value in described.items() if not value.get("description")] == []


def _properties(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    inputs = {name: found["inputProperties"] for name, found in schema["resources"].items()}
    outputs = {f"{name} (output)": found["properties"] for name, found in schema["resources"].items()}
    return {**inputs, **outputs, **{name: found["properties"] for name, found in schema["types"].items()}}


def test_a_yaml_program_adds_a_pool(dev: Dev, twin: RunningTwin, tmp_path: Path, in_twin: None):
    project = tmp_path / "project"
    project.mkdir()

    def write(size: str, sku: str) -> None:
        (project / "Pulumi.yaml").write_text(PROGRAM.replace("SIZE", size).replace("SKU", sku))

    def pulumi(*arguments: str, ok: bool = True) -> str:
        done = twin.run("pulumi", *arguments, "--non-interactive", cwd=project, ok=ok)
        return done.stdout + done.stderr

    write("1", "AzureContainerLinux")
    pulumi("stack", "init", "yaml")
    refused = pulumi("preview", ok=False)
    assert "AKSGPU204 dra-os-sku" in refused
    assert "Traceback" not in refused

    write("2", "Ubuntu")
    pulumi("up", "--yes", "--skip-preview")
    assert json.loads(pulumi("stack", "output", "--json"))["accepted"]["driverMode"] == "DRA"
    pool = dev.azure.pool("rg-aksgpu-dev", "aks-dev", "yamlnp")
    assert pool is not None
    assert pool.facts.count == 2
    pulumi("destroy", "--yes", "--skip-preview")
    assert dev.azure.pool("rg-aksgpu-dev", "aks-dev", "yamlnp") is None
