"""The yardstick: the same resources as the dev stack, as a first program would write them."""

import base64

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerservice, resources
from pulumi_kubernetes.batch.v1 import Job
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.resource.v1 import DeviceClass, ResourceClaim

group = resources.ResourceGroup("group", resource_group_name="rg-bare", location="eastus")
cluster = containerservice.ManagedCluster(
    "cluster",
    resource_name_="aks-bare",
    resource_group_name=group.name,
    location="eastus",
    kubernetes_version="1.35",
    dns_prefix="aks-bare",
    identity={"type": containerservice.ResourceIdentityType.SYSTEM_ASSIGNED},
    agent_pool_profiles=[{"name": "system", "mode": "System", "count": 1, "vm_size": "Standard_D4s_v5"}],
)
pool = resources.Resource(
    "gpunp",
    api_version="2026-08-02-preview",
    resource_provider_namespace="Microsoft.ContainerService",
    parent_resource_path=cluster.name.apply(lambda name: f"managedClusters/{name}"),
    resource_type="agentPools",
    resource_name_="gpunp",
    resource_group_name=group.name,
    properties={
        "count": 1,
        "vmSize": "Standard_NC24ads_A100_v4",
        "mode": "User",
        "gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed", "driverMode": "DRA"}},
    },
)
credentials = containerservice.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
)
provider = kubernetes.Provider(
    "kubernetes",
    kubeconfig=credentials.kubeconfigs[0].value.apply(lambda value: base64.b64decode(value).decode()),
    cluster_identifier=cluster.id,
)
inside = pulumi.ResourceOptions(provider=provider)
device_class = DeviceClass(
    "class",
    metadata={"name": "aks-dra-gpu"},
    spec={
        "selectors": [
            {
                "cel": {
                    "expression": "device.driver == 'gpu.nvidia.com' && "
                    "device.attributes['gpu.nvidia.com'].type == 'gpu'"
                }
            }
        ]
    },
    opts=inside,
)
space = Namespace("space", metadata={"name": "gpu-dra-example"}, opts=inside)
claim = ResourceClaim(
    "claim",
    metadata={"name": "gpu-claim", "namespace": space.metadata["name"]},
    spec={
        "devices": {
            "requests": [
                {
                    "name": "gpu",
                    "exactly": {
                        "device_class_name": device_class.metadata["name"],
                        "allocation_mode": "ExactCount",
                        "count": 1,
                    },
                }
            ]
        }
    },
    opts=inside,
)
Job(
    "job",
    metadata={"name": "gpu-dra-validation", "namespace": space.metadata["name"]},
    spec={
        "backoff_limit": 0,
        "active_deadline_seconds": 600,
        "template": {
            "spec": {
                "restart_policy": "Never",
                "node_selector": {"kubernetes.azure.com/agentpool": "gpunp"},
                "resource_claims": [{"name": "gpu", "resource_claim_name": claim.metadata["name"]}],
                "containers": [
                    {
                        "name": "gpu-test",
                        "image": "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu",
                        "command": ["nvidia-smi"],
                        "resources": {"claims": [{"name": "gpu"}]},
                    }
                ],
            }
        },
    },
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[pool]),
)
