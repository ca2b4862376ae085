"""What a subscription has beside clusters: groups, features, providers, quotas, sizes, versions."""

import datetime as dt
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.resource.features import FeatureClient
from azure.mgmt.resource.subscriptions import SubscriptionClient

from tests.azure.harness import A100, FAST, GROUP, Endpoint, cluster_body
from twin.account import SUBSCRIPTION

AKS, FEATURE = "Microsoft.ContainerService", "ManagedGPUExperiencePreview"
A100_FAMILY = "StandardNCADSA100v4Family"


def test_subscriptions_and_locations(endpoint: Endpoint) -> None:
    client = endpoint.client(SubscriptionClient)
    assert [found.subscription_id for found in client.subscriptions.list()] == [SUBSCRIPTION]
    assert client.subscriptions.get(SUBSCRIPTION).state == "Enabled"
    assert "eastus" in {place.name for place in client.subscriptions.list_locations(SUBSCRIPTION)}
    assert [tenant.tenant_id for tenant in client.tenants.list()]


def test_resource_groups(resources: Any) -> None:
    made = resources.resource_groups.create_or_update("rg-crud", {"location": "West Europe", "tags": {"a": "b"}})
    assert (made.location, made.tags) == ("westeurope", {"a": "b"})
    assert "rg-crud" in {group.name for group in resources.resource_groups.list()}
    with pytest.raises(HttpResponseError, match="Invalid resource group location"):
        resources.resource_groups.create_or_update("rg-crud", {"location": "eastus"})
    resources.resource_groups.begin_delete("rg-crud").result()
    assert not resources.resource_groups.check_existence("rg-crud")


def test_a_feature_is_registered_after_a_while(endpoint: Endpoint) -> None:
    endpoint.azure.service.store.put_settings(FAST.model_copy(update={"registration_seconds": 0.3}))
    features = endpoint.client(FeatureClient).features
    features.unregister(AKS, FEATURE)
    assert features.get(AKS, FEATURE).properties.state == "Unregistering"
    assert features.register(AKS, FEATURE).properties.state == "Registering"
    while (state := features.get(AKS, FEATURE).properties.state) == "Registering":
        pass
    assert state == "Registered"
    assert f"{AKS}/{FEATURE}" in {feature.name for feature in features.list(AKS)}
    assert f"{AKS}/{FEATURE}" in {feature.name for feature in features.list_all()}


def test_a_feature_that_was_never_asked_for_answers_200(endpoint: Endpoint) -> None:
    features = endpoint.client(FeatureClient)
    assert features.features.get(AKS, "NodeAutoProvisioningPreview").properties.state == "NotRegistered"
    registration = features.subscription_feature_registrations.get(AKS, "NodeAutoProvisioningPreview")
    assert registration.properties.state == "NotRegistered"
    with pytest.raises(HttpResponseError, match="could not be found"):
        features.features.get(AKS, "Nonsense")


def test_the_fault_feature_pending_holds_it(endpoint: Endpoint) -> None:
    features = endpoint.client(FeatureClient).features
    features.unregister(AKS, FEATURE)
    endpoint.fault("feature-pending")
    features.register(AKS, FEATURE)
    assert features.get(AKS, FEATURE).properties.state == "Registering"
    endpoint.folder.faults.unlink()
    assert features.get(AKS, FEATURE).properties.state == "Registered"


def test_a_provider_has_to_be_registered(resources: Any, aks: Any, endpoint: Endpoint) -> None:
    assert resources.providers.get(AKS).registration_state == "Registered"
    assert AKS in {provider.namespace for provider in resources.providers.list()}
    resources.providers.unregister(AKS)
    try:
        with pytest.raises(HttpResponseError) as caught:
            aks.managed_clusters.begin_create_or_update(GROUP, "nope", cluster_body())
    finally:
        resources.providers.register(AKS)
    assert caught.value.error is not None
    assert caught.value.error.code == "MissingSubscriptionRegistration"
    assert resources.providers.get(AKS).registration_state == "Registered"


def _usage(compute: Any, family: str) -> tuple[int, int]:
    rows = {row.name.value: row for row in compute.usage.list("eastus")}
    return rows[family].current_value, rows[family].limit


def test_quotas_are_counted_and_kept(endpoint: Endpoint, compute: Any, put_pool: Any) -> None:
    before, limit = _usage(compute, A100_FAMILY)
    regional, _ = _usage(compute, "cores")
    assert limit >= 100 * 96
    put_pool("counted", vmSize=A100, count=2)
    assert _usage(compute, A100_FAMILY)[0] == before + 48
    assert _usage(compute, "cores")[0] == regional + 48
    quotas = {A100_FAMILY: before + 60, "cores": regional + 1000}
    endpoint.azure.service.store.put_settings(FAST.model_copy(update={"quotas": quotas}))
    with pytest.raises(HttpResponseError) as caught:
        put_pool("counted", count=3)
    assert caught.value.error is not None
    assert caught.value.error.code == "ErrCode_InsufficientVCPUQuota"
    assert f"Insufficient vcpu quota requested 24, remaining 12 for family {A100_FAMILY}" in caught.value.message
    endpoint.azure.service.store.put_settings(FAST.model_copy(update={"quotas": {"cores": regional + 49}}))
    with pytest.raises(HttpResponseError, match="Total Regional Cores quota"):
        put_pool("counted", count=3)


def test_surge_nodes_take_quota(endpoint: Endpoint, aks: Any, make_cluster: Any, compute: Any) -> None:
    make_cluster("surging")
    body = {"vmSize": A100, "count": 1, "orchestratorVersion": "1.34"}
    aks.agent_pools.begin_create_or_update(GROUP, "surging", "gpu", {"properties": body}).result()
    used, _ = _usage(compute, A100_FAMILY)
    endpoint.azure.service.store.put_settings(FAST.model_copy(update={"quotas": {A100_FAMILY: used}}))
    newer: dict[str, Any] = {"orchestratorVersion": "1.35"}
    with pytest.raises(HttpResponseError, match="Surge nodes would also consume vcpu quota"):
        aks.agent_pools.begin_create_or_update(GROUP, "surging", "gpu", {"properties": newer})
    newer["upgradeSettings"] = {"maxSurge": "0", "maxUnavailable": "1"}
    assert aks.agent_pools.begin_create_or_update(GROUP, "surging", "gpu", {"properties": newer}).result()


@pytest.mark.parametrize(
    ("fault", "code"), [("quota", "ErrCode_InsufficientVCPUQuota"), ("sku-unavailable", "SKUNotAvailable")]
)
def test_faults_of_capacity(fault: str, code: str, endpoint: Endpoint, put_pool: Any) -> None:
    endpoint.fault(fault)
    with pytest.raises(HttpResponseError) as caught:
        put_pool("lucky", vmSize=A100, count=1)
    assert caught.value.error is not None
    assert caught.value.error.code == code
    assert put_pool("modest", vmSize="Standard_D4s_v5", count=0).name == "modest"


def test_sizes_and_their_restrictions(endpoint: Endpoint, compute: Any) -> None:
    def sizes() -> dict[str, Any]:
        return {sku.name: sku for sku in compute.resource_skus.list(filter="location eq 'eastus'")}

    size = sizes()[A100]
    capabilities = {entry.name: entry.value for entry in size.capabilities}
    assert (capabilities["GPUs"], capabilities["vCPUs"], capabilities["MemoryGB"]) == ("1", "24", "220")
    assert (size.family, size.locations, size.restrictions) == (A100_FAMILY, ["eastus"], [])
    rdma = {entry.name: entry.value for entry in sizes()["Standard_ND96isr_H100_v5"].capabilities}
    assert rdma["RdmaEnabled"] == "True"
    endpoint.fault("sku-unavailable")
    blocked = {name for name, sku in sizes().items() if sku.restrictions}
    assert A100 in blocked
    assert "Standard_D4s_v5" not in blocked


def test_versions_follow_the_calendar(endpoint: Endpoint, aks: Any) -> None:
    def versions() -> dict[str, Any]:
        return {
            entry.version: entry for entry in aks.managed_clusters.list_kubernetes_versions("eastus").values_property
        }

    now = versions()
    assert list(now) == ["1.33", "1.34", "1.35", "1.36"]
    assert [name for name, entry in now.items() if entry.is_default] == ["1.35"]
    assert set(now["1.35"].patch_versions) == {"1.35.3", "1.35.4"}
    assert now["1.34"].patch_versions["1.34.5"].upgrades == ["1.35.3", "1.35.4"]
    endpoint.azure.service.store.put_settings(FAST.model_copy(update={"today": dt.date(2026, 4, 15)}))
    earlier = versions()
    assert [name for name, entry in earlier.items() if entry.is_default] == ["1.34"]
    assert "1.36" not in earlier


def test_the_default_version_is_the_minor_before_the_newest(make_cluster: Any) -> None:
    made = make_cluster("default", None)
    assert made.properties.current_kubernetes_version == "1.35.4"
    assert made.properties.node_resource_group == f"MC_{GROUP}_default_eastus"
    assert made.identity.principal_id


def test_tags_are_patched(aks: Any, cluster: str) -> None:
    assert aks.managed_clusters.begin_update_tags(GROUP, cluster, {"tags": {"x": "y"}}).result().tags == {"x": "y"}
    assert aks.managed_clusters.get(GROUP, cluster).tags == {"x": "y"}
    assert cluster in {found.name for found in aks.managed_clusters.list_by_resource_group(GROUP)}
