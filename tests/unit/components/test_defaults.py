"""Left to themselves, the components make exactly the article's example."""

from typing import Any

import pulumi

from components import Cluster, GpuClaimTemplate, GpuDeviceClass, GpuNamespace, NodePool, ValidationJob

CEL = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
MARK = {"aksgpu.dev/stack": "organization/aksgpu/dev", "pulumi.com/patchForce": "true"}


def article() -> None:
    cluster = Cluster(
        "cluster",
        {"create": {"resource_group": "rg", "name": "aks", "location": "eastus", "kubernetes_version": "1.35"}},
    )
    pool = NodePool(
        "gpunp",
        {
            "resource_group_name": cluster.resource_group_name,
            "cluster_name": cluster.cluster_name,
            "vm_size": "Standard_NC24ads_A100_v4",
        },
    )
    inside = pulumi.ResourceOptions(providers=[cluster.provider])
    device_class = GpuDeviceClass("class", {"kubeconfig": cluster.kubeconfig}, inside)
    namespace = GpuNamespace(
        "namespace",
        {
            "device_class_name": device_class.class_name,
            "claims": [{"name": "gpu-claim"}],
            "kubeconfig": cluster.kubeconfig,
        },
        inside,
    )
    ValidationJob(
        "validation",
        {
            "namespace": namespace.namespace_name,
            "claim_name": namespace.claims["gpu-claim"].claim_name,
            "pool_name": pool.pool_name,
            "kubeconfig": cluster.kubeconfig,
        },
        inside,
    )


def test_the_pool_is_asked_for_with_every_gpu_field(run):
    pool = run(article).one("Resource")
    assert pool["properties"] == {
        "type": "VirtualMachineScaleSets",
        "mode": "User",
        "osType": "Linux",
        "vmSize": "Standard_NC24ads_A100_v4",
        "count": 1,
        "enableAutoScaling": False,
        "nodeTaints": ["sku=gpu:NoSchedule"],
        "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"},
        "gpuProfile": {
            "driver": "Install",
            "nvidia": {"managementMode": "Managed", "driverMode": "DRA", "migStrategy": "None"},
        },
    }
    assert pool["parentResourcePath"] == "managedClusters/aks"
    assert pool["resourceType"] == "agentPools"
    assert pool["resourceName"] == "gpunp"
    assert pool["resourceProviderNamespace"] == "Microsoft.ContainerService"


def test_the_class_is_the_articles(run):
    made = run(article).one("DeviceClass")
    assert made["metadata"] == {"name": "aks-dra-gpu", "annotations": MARK}
    assert made["spec"] == {"selectors": [{"cel": {"expression": CEL}}]}


def test_namespace_and_claim_are_the_articles(run):
    made = run(article)
    assert made.one("Namespace")["metadata"] == {"name": "gpu-dra-example", "annotations": MARK}
    assert made.one("ResourceClaim")["metadata"] == {
        "name": "gpu-claim",
        "namespace": "gpu-dra-example",
        "annotations": MARK,
    }
    assert made.one("ResourceClaim")["spec"] == {
        "devices": {
            "requests": [
                {
                    "name": "gpu",
                    "exactly": {"deviceClassName": "aks-dra-gpu", "allocationMode": "ExactCount", "count": 1},
                }
            ]
        }
    }


def test_the_job_is_the_articles(run):
    made = run(article).one("Job")
    assert made["metadata"]["name"] == "gpu-dra-validation"
    assert made["spec"] == {
        "backoffLimit": 0,
        "activeDeadlineSeconds": 600,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "nodeSelector": {"kubernetes.azure.com/agentpool": "gpunp"},
                "tolerations": [
                    {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
                    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                ],
                "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu-claim"}],
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
    }


def test_the_cluster_has_its_system_pool_inside_and_no_node_provisioning(run):
    made = run(article).one("ManagedCluster")
    assert [pool["name"] for pool in made["agentPoolProfiles"]] == ["system"]
    assert made["nodeProvisioningProfile"] == {"mode": "Manual"}
    assert made["kubernetesVersion"] == "1.35"


def test_selectors_and_counts_reach_the_claims_of_a_template(run):
    float_of_another_language: Any = 2.0

    def program() -> None:
        GpuClaimTemplate(
            "template",
            {
                "name": "two",
                "namespace": "team",
                "device_class_name": "aks-dra-gpu",
                "count": float_of_another_language,
                "selectors": ["device.attributes['gpu.nvidia.com'].architecture == 'Ampere'"],
            },
        )

    spec = run(program).one("ResourceClaimTemplate")["spec"]["spec"]
    exactly = spec["devices"]["requests"][0]["exactly"]
    assert exactly["count"] == 2
    assert exactly["selectors"] == [
        {"cel": {"expression": "device.attributes['gpu.nvidia.com'].architecture == 'Ampere'"}}
    ]
