"""What Azure refuses, with code and text."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.resource.features import FeatureClient

from tests.azure.harness import A100, DRA, GROUP, Endpoint, cluster_body

CPU = "Standard_D4s_v5"
MANAGED = {"nvidia": {"managementMode": "Managed"}}


@dataclass(frozen=True)
class Case:
    """One PUT of a pool that Azure refuses."""

    code: str
    text: str
    properties: dict[str, Any]
    name: str = "refused"
    first: dict[str, Any] = field(default_factory=dict)
    """When given, the pool exists with these properties."""
    on: str = "c135"


def _changes(path: str, before: dict[str, Any], after: dict[str, Any]) -> Case:
    text = f"Changing property 'properties.{path}' is not allowed."
    return Case("PropertyChangeNotAllowed", text, after, first={"vmSize": A100, "count": 0, **before})


def _upgrade(code: str, text: str, current: str, wanted: str, on: str) -> Case:
    first = {"vmSize": CPU, "count": 0, "orchestratorVersion": current}
    return Case(code, text, {"orchestratorVersion": wanted}, first=first, on=on)


def _invalid(text: str, properties: dict[str, Any], name: str = "refused", on: str = "c135") -> Case:
    return Case("InvalidParameter", text, properties, name=name, on=on)


def _gpu(text: str, **properties: Any) -> Case:
    return _invalid(text, {"vmSize": A100, "count": 0, **properties})


def _settings(text: str, mode: str = "User", **settings: str | int) -> Case:
    properties = {"vmSize": CPU, "count": 1, "mode": mode, "upgradeSettings": settings}
    return _invalid(text, properties)


UNMANAGED = {"nvidia": {"managementMode": "Unmanaged"}}
PLUGIN = {"nvidia": {"managementMode": "Managed", "driverMode": "DevicePlugin"}}
MIXED = {"nvidia": {"managementMode": "Managed", "migStrategy": "Mixed", "migProfiles": ["MIG1g"]}}
CASES: dict[str, Case] = {
    "managed-to-unmanaged": _changes(
        "gpuProfile.nvidia.managementMode", {"gpuProfile": MANAGED}, {"gpuProfile": UNMANAGED}
    ),
    "plugin-to-dra": _changes("gpuProfile.nvidia.driverMode", {"gpuProfile": PLUGIN}, {"gpuProfile": DRA}),
    "mig-strategy": _changes("gpuProfile.nvidia.migStrategy", {"gpuProfile": MANAGED}, {"gpuProfile": MIXED}),
    "driver": _changes("gpuProfile.driver", {}, {"gpuProfile": {"driver": "None"}}),
    "size": _changes("vmSize", {}, {"vmSize": "Standard_NC48ads_A100_v4"}),
    "dra-unmanaged": _gpu("managementMode to be Managed", gpuProfile={"nvidia": {"driverMode": "DRA"}}),
    "dra-autoscaler": _gpu("cluster autoscaler", gpuProfile=DRA, enableAutoScaling=True, minCount=0, maxCount=2),
    "dra-os": _gpu("osSKU AzureContainerLinux", gpuProfile=DRA, osSKU="AzureContainerLinux"),
    "flatcar": _gpu("Flatcar is not supported", osSKU="Flatcar"),
    "dra-old": _invalid(
        "requires Kubernetes version 1.35",
        {"vmSize": A100, "count": 0, "gpuProfile": DRA},
        on="c134",
    ),
    "gpu-on-cpu": _invalid("has no NVIDIA GPU", {"vmSize": CPU, "count": 0, "gpuProfile": DRA}),
    "mig-on-t4": _invalid(
        "does not support multi-instance GPU",
        {"vmSize": "Standard_NC4as_T4_v3", "count": 0, "gpuInstanceProfile": "MIG1g"},
    ),
    "mig-both": _gpu("can't be set together", gpuProfile=MIXED, gpuInstanceProfile="MIG1g"),
    "mig-single": _gpu(
        "exactly one entry",
        gpuProfile={
            "nvidia": {"managementMode": "Managed", "migStrategy": "Single", "migProfiles": ["MIG1g", "MIG2g"]}
        },
    ),
    "name": _invalid("agentPoolProfile.name is invalid", {"vmSize": CPU}, name="has-dash"),
    "long-name": _invalid("agentPoolProfile.name is invalid", {"vmSize": CPU}, name="abcdefghijklm"),
    "no-count": _invalid("Required parameter agentPoolProfile.count is missing", {"vmSize": CPU}),
    "count": _invalid(
        "count was 1001. It must be greater or equal to minCount:0",
        {"vmSize": CPU, "count": 1001},
    ),
    "empty-system": _invalid(
        "count was 0. It must be greater or equal to minCount:1",
        {"vmSize": CPU, "count": 0, "mode": "System"},
    ),
    "unknown-size": Case("BadRequest", "VM size of Standard_X1 is not allowed", {"vmSize": "Standard_X1", "count": 0}),
    "last-system": Case("OperationNotAllowed", "at least one system agent pool.", {"mode": "User"}, name="sys"),
    "label": _invalid(
        "prefix that AKS reserves",
        {"vmSize": CPU, "count": 0, "nodeLabels": {"kubernetes.io/x": "y"}},
    ),
    "taint": _invalid("key=value:NoSchedule", {"vmSize": CPU, "count": 0, "nodeTaints": ["nonsense"]}),
    "autoscaling": _invalid("minCount and maxCount", {"vmSize": CPU, "count": 0, "enableAutoScaling": True}),
    "windows": Case("TwinNotSupported", "does not simulate Windows", {"vmSize": CPU, "count": 0, "osType": "Windows"}),
    "surge-zero": _settings("maxSurge must be greater than 0", maxSurge="0"),
    "surge-text": _settings("a number of nodes or a percentage", maxSurge="many"),
    "drain-range": _settings("between 5 and 1440", drainTimeoutInMinutes=4),
    "soak-range": _settings("between 0 and 30", nodeSoakDurationInMinutes=31),
    "system-unavailable": _settings("not supported on system node pools", mode="System", maxUnavailable="1"),
    "blocked-nodes": _settings("greater than or equal to maxSurge", maxSurge="3", maxBlockedNodes="2"),
    "pool-above": Case(
        "NodePoolMcVersionIncompatible",
        "Node pool version 1.36.2 and control plane version 1.35.4 are incompatible. Minor version of node pool "
        "version 36 is bigger than control plane version 35.",
        {"vmSize": CPU, "count": 0, "orchestratorVersion": "1.36"},
    ),
    "pool-unknown-version": Case(
        "AgentPoolK8sVersionNotSupported",
        "Version 1.31.2 is not supported in this region",
        {"vmSize": CPU, "count": 0, "orchestratorVersion": "1.31.2"},
    ),
    "upgrade-skips": _upgrade(
        "AgentPoolUpgradeVersionNotAllowed", "from 1.33.8 to 1.35.4 is not allowed", "1.33", "1.35", "c135"
    ),
    "upgrade-down": _upgrade(
        "AgentPoolUpgradeVersionNotAllowed", "from 1.34.5 to 1.33.8 is not allowed", "1.34", "1.33", "c135"
    ),
    "upgrade-above": _upgrade("NodePoolMcVersionIncompatible", "35 is bigger", "1.34", "1.35", "c134"),
}


@pytest.fixture(scope="module", autouse=True)
def _clusters(make_cluster: Any) -> None:
    make_cluster("c135")
    make_cluster("c134", "1.34")


@pytest.mark.parametrize("name", CASES)
def test_a_pool_is_refused(name: str, aks: Any) -> None:
    case = CASES[name]
    pool = case.name if case.name != "refused" or not case.first else f"r{list(CASES).index(name)}"

    def put(properties: dict[str, Any]) -> Any:
        return aks.agent_pools.begin_create_or_update(GROUP, case.on, pool, {"properties": properties})

    if case.first:
        put(case.first).result()
    with pytest.raises(HttpResponseError) as caught:
        put(case.properties).result()
    assert caught.value.error is not None
    assert caught.value.error.code == case.code
    assert case.text in (caught.value.error.message or "")
    after = {found.name for found in aks.agent_pools.list(GROUP, case.on)}
    assert (pool in after) is bool(case.first or pool == "sys")


CLUSTER_CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "skips a minor": (
        "OperationNotAllowed",
        "Upgrading Kubernetes version 1.34.5 to 1.36.2 is not allowed. Available upgrades: [1.35.3, 1.35.4]",
        {"kubernetesVersion": "1.36"},
    ),
    "downgrades": (
        "OperationNotAllowed",
        "Downgrading Kubernetes version 1.34.5 to 1.33.8 is not allowed.",
        {"kubernetesVersion": "1.33.8"},
    ),
    "unknown minor": (
        "UnsupportedAliasMinorVersion",
        "1.41 is not a supported Kubernetes version. To see our supported AKS version list please visit",
        {"kubernetesVersion": "1.41"},
    ),
    "unknown patch": ("K8sVersionNotSupported", "is on version 1.35.99", {"kubernetesVersion": "1.35.99"}),
    "a new profile": (
        "BadRequest",
        "A new agent pool was introduced. Adding agent pools to an existing cluster is not allowed",
        {"agentPoolProfiles": [{"name": "sys"}, {"name": "extra", "count": 1, "vmSize": CPU}]},
    ),
    "some pools only": (
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged",
        "must be all specified or all unspecified",
        {"kubernetesVersion": "1.35", "agentPoolProfiles": [{"name": "sys", "orchestratorVersion": "1.35"}]},
    ),
    "dns prefix": (
        "PropertyChangeNotAllowed",
        "Changing property 'properties.dnsPrefix' is not allowed.",
        {"dnsPrefix": "other"},
    ),
}


@pytest.mark.parametrize("name", CLUSTER_CASES)
def test_a_cluster_change_is_refused(name: str, aks: Any) -> None:
    code, text, properties = CLUSTER_CASES[name]
    aks.agent_pools.begin_create_or_update(
        GROUP, "c134", "second", {"properties": {"vmSize": CPU, "count": 0}}
    ).result()
    body = {"location": "eastus", "properties": properties}
    with pytest.raises(HttpResponseError) as caught:
        aks.managed_clusters.begin_create_or_update(GROUP, "c134", body)
    assert caught.value.error is not None
    assert caught.value.error.code == code
    assert text in (caught.value.error.message or "")
    assert aks.managed_clusters.get(GROUP, "c134").properties.current_kubernetes_version == "1.34.5"


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({"enableAutoScaling": True, "minCount": 0, "maxCount": 1}, "enableAutoScaling enabled"),
        ({"vmSize": A100, "gpuProfile": DRA}, "DRA is not supported with node auto provisioning"),
    ],
)
def test_node_provisioning_and_such_pools_exclude_each_other(
    properties: dict[str, Any], text: str, aks: Any, make_cluster: Any
) -> None:
    name = f"nap{len(properties)}"
    pool = {"properties": {"vmSize": CPU, "count": 0, **properties}}
    auto = {"nodeProvisioningProfile": {"mode": "Auto"}}
    make_cluster(name)
    aks.agent_pools.begin_create_or_update(GROUP, name, "in", pool).result()
    with pytest.raises(HttpResponseError, match=text):
        aks.managed_clusters.begin_create_or_update(GROUP, name, {"location": "eastus", "properties": auto})
    aks.agent_pools.begin_delete(GROUP, name, "in").result()
    make_cluster(name, None, **auto)
    with pytest.raises(HttpResponseError, match=text):
        aks.agent_pools.begin_create_or_update(GROUP, name, "in", pool)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("UnsupportedAliasMinorVersion", {"properties": {"kubernetesVersion": "1.20"}}),
        ("K8sVersionNotSupported", {"properties": {"kubernetesVersion": "1.35.77"}}),
        ("InvalidParameter", {"properties": {"agentPoolProfiles": [{"name": "u", "count": 1, "mode": "User"}]}}),
        ("InvalidParameter", {"identity": None}),
        ("LocationNotAvailableForResourceType", {"location": "atlantis"}),
    ],
)
def test_a_new_cluster_is_refused(code: str, change: dict[str, Any], aks: Any) -> None:
    body = cluster_body()
    for key, value in change.items():
        body[key] = body[key] | value if isinstance(value, dict) else value
    with pytest.raises(HttpResponseError) as caught:
        aks.managed_clusters.begin_create_or_update(GROUP, "never", body)
    assert caught.value.error is not None
    assert caught.value.error.code == code
    assert "never" not in {found.name for found in aks.managed_clusters.list()}


def test_a_managed_pool_needs_the_preview_feature(endpoint: Endpoint, aks: Any) -> None:
    features = endpoint.client(FeatureClient)
    name = ("Microsoft.ContainerService", "ManagedGPUExperiencePreview")
    features.features.unregister(*name)
    try:
        with pytest.raises(HttpResponseError) as caught:
            aks.agent_pools.begin_create_or_update(
                GROUP, "c135", "early", {"properties": {"vmSize": A100, "gpuProfile": DRA}}
            )
    finally:
        features.features.register(*name)
    assert caught.value.error is not None
    assert caught.value.error.code == "PreviewFeatureNotRegistered"
    assert "Microsoft.ContainerService/ManagedGPUExperiencePreview not registered." in caught.value.message


def test_the_last_system_pool_stays(aks: Any) -> None:
    with pytest.raises(HttpResponseError, match="There has to be at least one system agent pool"):
        aks.agent_pools.begin_delete(GROUP, "c135", "sys")


def test_what_is_missing_is_named(aks: Any, resources: Any) -> None:
    cases = [
        ("ResourceGroupNotFound", lambda: aks.managed_clusters.get("rg-none", "x")),
        ("ResourceNotFound", lambda: aks.managed_clusters.get(GROUP, "none")),
        ("ResourceNotFound", lambda: aks.agent_pools.get(GROUP, "c135", "none")),
        ("ParentResourceNotFound", lambda: aks.agent_pools.begin_create_or_update(GROUP, "none", "p", {})),
        ("ResourceGroupNotFound", lambda: resources.resource_groups.get("rg-none")),
    ]
    for code, call in cases:
        with pytest.raises(HttpResponseError) as caught:
            call()
        assert caught.value.error is not None
        assert (caught.value.status_code, caught.value.error.code) == (404, code)
