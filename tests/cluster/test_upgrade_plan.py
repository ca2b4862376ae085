"""A plan on a real control plane: carried out step by step, and its hop brings what it says."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from azure.core.credentials import AccessToken
from azure.mgmt.containerservice import ContainerServiceClient

from tests.conftest import RunningTwin
from twin import credentials, lifecycle, seed
from twin.account import SUBSCRIPTION

GROUP, CLUSTER = "rg-plan", "aks-plan"
SEED = """
clusters:
  - resourceGroup: rg-plan
    name: aks-plan
    kubernetesVersion: "1.33"
    pools:
      - {name: sys, mode: System, count: 1, vmSize: Standard_D4s_v5}
      - {name: gpunp, count: 1, vmSize: Standard_NC24ads_A100_v4, upgradeSettings: {maxSurge: "0", maxUnavailable: "1"}}
"""


class _Token:
    def __init__(self, token: str) -> None:
        self._token = token

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        return AccessToken(self._token, int(time.time()) + 3600)


def test_a_hop_to_1_34_as_planned_makes_the_dra_api_appear(twin: RunningTwin, tmp_path: Path) -> None:
    (tmp_path / "seed.yaml").write_text(SEED)
    url, token, ca = lifecycle.endpoint(twin.folder), credentials.token(twin.folder), twin.folder.ca
    seed.apply(seed.load(tmp_path / "seed.yaml"), url, token, ca, lambda _: None)
    aks: Any = ContainerServiceClient(_Token(token), SUBSCRIPTION, base_url=url, connection_verify=str(ca))

    def plan() -> dict[str, Any]:
        program = "from aksgpu.cli import main; main()"
        command = (sys.executable, "-c", program, "upgrade", "plan", "-g", GROUP, "-n", CLUSTER, "--to", "1.34")
        return json.loads(twin.run(*command, "--format", "json").stdout)

    def dra_api() -> str:
        return twin.kubectl("--context", CLUSTER, "api-resources", "--api-group=resource.k8s.io", "--no-headers")

    steps = plan()["steps"]
    assert [[move["what"] for move in step["moves"]] for step in steps] == [["control plane"], ["sys"], ["gpunp"]]
    assert any("resource.k8s.io/v1 appears" in news for news in steps[0]["brings"])
    assert dra_api() == ""
    hop, *pools = steps
    body = {"location": "eastus", "properties": {"kubernetesVersion": hop["moves"][0]["to"]}}
    aks.managed_clusters.begin_create_or_update(GROUP, CLUSTER, body).result()
    # The columns end with version, namespaced, kind.
    assert {line.split()[-3] for line in dra_api().splitlines()} == {"resource.k8s.io/v1"}
    for step in pools:
        ((name, version),) = ((move["what"], move["to"]) for move in step["moves"])
        body = {"properties": {"orchestratorVersion": version}}
        aks.agent_pools.begin_create_or_update(GROUP, CLUSTER, name, body).result()
    nodes = json.loads(twin.kubectl("--context", CLUSTER, "get", "nodes", "-o", "json"))["items"]
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes} == {f"v{hop['moves'][0]['to']}"}
    assert plan()["steps"] == []
    aks.managed_clusters.begin_delete(GROUP, CLUSTER).result()
