"""Reads Azure through Azure Resource Manager: clusters, node pools and the preview feature, as they are now.

The clients are the `azure-mgmt-*` SDKs. They are imported when first used, so that importing this module costs
nothing.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.readers.azure_session import AzureError, containers, credential, endpoint, explained

if TYPE_CHECKING:
    from azure.mgmt.containerservice import ContainerServiceClient
    from azure.mgmt.resource.features import FeatureClient
    from azure.mgmt.resource.features.models import FeatureResult
    from azure.mgmt.resource.resources import ResourceManagementClient

NAMESPACE = "Microsoft.ContainerService"
"""The resource provider of AKS."""


class PoolAddress(NamedTuple):
    """Where a node pool is."""

    subscription: str
    resource_group: str
    cluster: str
    pool: str

    @classmethod
    def parse(cls, resource_id: str) -> "PoolAddress":
        """Take an ARM id apart; raises AzureError when it isn't the id of a node pool."""
        from azure.mgmt.core.tools import parse_resource_id

        parts = parse_resource_id(resource_id)
        names = [parts.get(key) for key in ("subscription", "resource_group", "name", "child_name_1")]
        if None in names:
            raise AzureError(f"'{resource_id}' is not the ARM id of a node pool.")
        return cls(*(str(name) for name in names))


@dataclass(frozen=True)
class LivePool:
    """A node pool as Azure has accepted it. None: Azure's answer does not have the property."""

    id: str
    provisioning_state: str | None
    facts: PoolFacts

    def accepted(self) -> dict[str, str | None]:
        """Return the properties that decide how GPUs are offered, under the names `az` shows them."""
        shown = {
            "osSku": self.facts.os_sku,
            "driver": self.facts.gpu_driver,
            "managementMode": self.facts.management_mode,
            "driverMode": self.facts.driver_mode,
        }
        return {"provisioningState": self.provisioning_state, **{key: _text(value) for key, value in shown.items()}}


@dataclass(frozen=True)
class LiveCluster:
    """A managed cluster as Azure has accepted it. None: Azure's answer does not have the property."""

    id: str
    location: str
    provisioning_state: str | None
    local_accounts_disabled: bool
    facts: ClusterFacts
    pools: tuple[LivePool, ...]


class Azure:
    """One subscription, read through Azure Resource Manager."""

    def __init__(self, subscription: str) -> None:
        """`subscription` is the id (a GUID) that all questions are about."""
        self.subscription = subscription

    def cluster(self, resource_group: str, name: str) -> LiveCluster | None:
        """Return the cluster, or None when it (or its resource group) does not exist."""
        with explained(f"read the cluster {resource_group}/{name}"):
            return _live_cluster(resource_group, self._containers.managed_clusters.get(resource_group, name).as_dict())
        return None

    def pool(self, resource_group: str, cluster: str, name: str) -> LivePool | None:
        """Return the node pool, or None when it (or anything above it) does not exist."""
        with explained(f"read the node pool {name} of the cluster {resource_group}/{cluster}"):
            found = self._containers.agent_pools.get(resource_group, cluster, name).as_dict()
            return _live_pool(ClusterRef(name=cluster, resource_group=resource_group), found)
        return None

    def pools(self, resource_group: str, cluster: str) -> list[LivePool]:
        """Return all node pools of a cluster; none when the cluster does not exist."""
        ref = ClusterRef(name=cluster, resource_group=resource_group)
        with explained(f"list the node pools of the cluster {resource_group}/{cluster}"):
            found = self._containers.agent_pools.list(resource_group, cluster)
            return [_live_pool(ref, pool.as_dict()) for pool in found]
        return []

    def kubeconfig(self, resource_group: str, cluster: str) -> str:
        """Return a user's kubeconfig (YAML) of a cluster; with Entra ID it calls `kubelogin`."""
        what = f"get credentials of the cluster {resource_group}/{cluster}"
        with explained(what):
            found = self._containers.managed_clusters.list_cluster_user_credentials(
                resource_group, cluster, format="exec"
            )
            if found.kubeconfigs and found.kubeconfigs[0].value:
                return found.kubeconfigs[0].value.decode()
        raise AzureError(f"Could not {what}: Azure returned no kubeconfig.")

    def settled(self, resource_id: str, api_version: str) -> bool:
        """Return whether the resource exists, once no operation is under way on it."""
        with explained(f"read {resource_id}"):
            while True:
                found = self._resources.resources.get_by_id(resource_id, api_version=api_version).as_dict()
                state = str((found.get("properties") or {}).get("provisioningState", "Succeeded"))
                if state in {"Succeeded", "Failed", "Canceled"}:
                    return True
                time.sleep(1)
        return False

    def feature_state(self, feature: str, namespace: str = NAMESPACE) -> str:
        """Return the state of a preview feature, e.g. NotRegistered, Registering, Registered."""
        with explained(f"read the preview feature {namespace}/{feature}"):
            return _state(self._features.features.get(namespace, feature))
        raise AzureError(f"Azure knows no preview feature {namespace}/{feature} in this subscription.")

    def register_feature(self, feature: str, namespace: str = NAMESPACE) -> str:
        """Ask for a preview feature and return its state right after, usually Registering."""
        with explained(f"register the preview feature {namespace}/{feature}"):
            return _state(self._features.features.register(namespace, feature))
        raise AzureError(f"Azure knows no preview feature {namespace}/{feature} in this subscription.")

    def register_provider(self, namespace: str = NAMESPACE) -> str:
        """Register a resource provider (again), which is how it learns of newly registered features."""
        with explained(f"register the resource provider {namespace}"):
            return self._resources.providers.register(namespace).registration_state or "NotRegistered"
        raise AzureError(f"Azure knows no resource provider {namespace}.")

    @cached_property
    def _containers(self) -> "ContainerServiceClient":
        return containers(self.subscription)

    @cached_property
    def _features(self) -> "FeatureClient":
        from azure.mgmt.resource.features import FeatureClient

        return FeatureClient(credential(), self.subscription, **endpoint())

    @cached_property
    def _resources(self) -> "ResourceManagementClient":
        from azure.mgmt.resource.resources import ResourceManagementClient

        return ResourceManagementClient(credential(), self.subscription, **endpoint())


def _state(found: "FeatureResult") -> str:
    return (found.properties.state if found.properties is not None else None) or "NotSpecified"


def _live_cluster(resource_group: str, found: Mapping[str, Any]) -> LiveCluster:
    properties = found["properties"]
    ref = ClusterRef(name=found["name"], resource_group=resource_group)
    profiles = properties.get("agentPoolProfiles") or []
    return LiveCluster(
        id=found["id"],
        location=found["location"],
        provisioning_state=properties.get("provisioningState"),
        local_accounts_disabled=bool(properties.get("disableLocalAccounts")),
        facts=ClusterFacts(
            place=Place(object=found["id"]),
            name=found["name"],
            resource_group=resource_group,
            kubernetes_version=properties.get("currentKubernetesVersion") or properties.get("kubernetesVersion"),
            node_provisioning=(properties.get("nodeProvisioningProfile") or {}).get("mode"),
        ),
        pools=tuple(
            _live_pool(ref, {"id": f"{found['id']}/agentPools/{profile['name']}", "properties": profile, **profile})
            for profile in profiles
        ),
    )


def _live_pool(cluster: ClusterRef, found: Mapping[str, Any]) -> LivePool:
    properties = found["properties"]
    gpu = properties.get("gpuProfile") or {}
    nvidia = gpu.get("nvidia") or {}
    return LivePool(
        id=found["id"],
        provisioning_state=properties.get("provisioningState"),
        facts=PoolFacts(
            place=Place(object=found["id"]),
            form=PoolForm(kind="live"),
            cluster=cluster,
            name=found["name"],
            vm_size=properties.get("vmSize"),
            os_type=properties.get("osType"),
            os_sku=properties.get("osSKU"),
            kubernetes_version=properties.get("currentOrchestratorVersion") or properties.get("orchestratorVersion"),
            mode=properties.get("mode"),
            count=properties.get("count"),
            autoscaling=properties.get("enableAutoScaling"),
            gpu_driver=gpu.get("driver"),
            management_mode=nvidia.get("managementMode"),
            driver_mode=nvidia.get("driverMode"),
            mig_strategy=nvidia.get("migStrategy"),
        ),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
