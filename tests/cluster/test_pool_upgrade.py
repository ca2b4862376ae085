"""A pool upgrade on a real control plane: evictions, a disruption budget in the way, and the way out."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.mgmt.containerservice import ContainerServiceClient

from tests.conftest import RunningTwin
from twin import credentials, lifecycle, seed
from twin.account import SUBSCRIPTION

GROUP, CLUSTER, POOL = "rg-drain", "aks-drain", "work"
SEED = """
clusters:
  - resourceGroup: rg-drain
    name: aks-drain
    kubernetesVersion: "1.35"
    pools:
      - {name: sys, mode: System, count: 1, vmSize: Standard_D4s_v5}
      - name: work
        count: 2
        vmSize: Standard_D4s_v5
        orchestratorVersion: "1.34"
        upgradeSettings: {maxSurge: "1", drainTimeoutInMinutes: 5}
    workloads:
      - {apiVersion: v1, kind: Namespace, metadata: {name: team}}
      - web.yaml
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {agentpool: work}
      containers: [{name: web, image: nginx}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: team}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""


class _Token:
    def __init__(self, token: str) -> None:
        self._token = token

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        return AccessToken(self._token, int(time.time()) + 3600)


def test_a_disruption_budget_stops_a_pool_upgrade_until_it_is_relaxed(twin: RunningTwin, tmp_path: Path) -> None:
    (tmp_path / "seed.yaml").write_text(SEED)
    (tmp_path / "web.yaml").write_text(WEB)
    url, token, ca = lifecycle.endpoint(twin.folder), credentials.token(twin.folder), twin.folder.ca
    seed.apply(seed.load(tmp_path / "seed.yaml"), url, token, ca, lambda _: None)
    aks: Any = ContainerServiceClient(_Token(token), SUBSCRIPTION, base_url=url, connection_verify=str(ca))

    def kubectl(*arguments: str) -> str:
        return twin.kubectl("--context", CLUSTER, *arguments)

    def versions() -> list[str]:
        nodes = json.loads(kubectl("get", "nodes", "-l", f"agentpool={POOL}", "-o", "json"))["items"]
        return sorted(node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes)

    def upgrade() -> None:
        body = {"properties": {"orchestratorVersion": "1.35"}}
        aks.agent_pools.begin_create_or_update(GROUP, CLUSTER, POOL, body).result()

    kubectl("-n", "team", "rollout", "status", "deployment/web", "--timeout=60s")
    with pytest.raises(HttpResponseError, match=r"failed when evicting pod team/web-.*disruption budget"):
        upgrade()
    assert versions() == ["v1.34.5", "v1.34.5", "v1.35.4"]
    assert aks.agent_pools.get(GROUP, CLUSTER, POOL).properties.provisioning_state == "Failed"
    kubectl("-n", "team", "patch", "pdb", "web", "-p", '{"spec": {"minAvailable": 1}}')
    upgrade()
    assert versions() == ["v1.35.4", "v1.35.4"]
    kubectl("-n", "team", "rollout", "status", "deployment/web", "--timeout=60s")
    aks.managed_clusters.begin_delete(GROUP, CLUSTER).result()
