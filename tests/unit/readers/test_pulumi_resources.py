"""Every form in which a program can write pools, clusters and GPU software."""

from typing import Any

import pytest

from aksgpu.facts.components import GpuComponent
from aksgpu.facts.nodes import Selection, Toleration
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.gpu_charts import product_of
from aksgpu.readers.pulumi_resources import PulumiResource, provider_cluster, read, reader_for

ARM = "/subscriptions/s/resourceGroups/RG/providers/Microsoft.ContainerService/managedClusters/aks"
NVIDIA = {"managementMode": "Managed", "driverMode": "DRA"}
TYPED = {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "gpunp", "gpuProfile": {"nvidia": NVIDIA}}
GENERIC: dict[str, Any] = {
    "apiVersion": "2026-08-02-preview",
    "resourceGroupName": "rg",
    "resourceProviderNamespace": "Microsoft.ContainerService",
    "parentResourcePath": "managedClusters/aks",
    "resourceType": "agentPools",
    "resourceName": "gpunp",
    "properties": {"gpuProfile": {"nvidia": NVIDIA}},
}


def pools(type_: str, props: object) -> tuple[PoolFacts, ...]:
    return read(PulumiResource(type_, "urn", props)).pools


def component(type_: str, props: object) -> GpuComponent | None:
    found = read(PulumiResource(type_, "urn", props)).components
    return found[0] if found else None


@pytest.mark.parametrize(
    ("type_", "props", "kind", "version"),
    [
        ("azure-native:containerservice:AgentPool", TYPED, "typed", "2025-09-01"),
        ("azure-native:containerservice/v20260502preview:AgentPool", TYPED, "versioned", "2026-05-02-preview"),
        (
            "azure-native_containerservice_v20260502preview:containerservice:AgentPool",
            TYPED,
            "parameterised",
            "2026-05-02-preview",
        ),
        (
            "azure-native_containerservice_v20260502preview:containerservice/v20260502preview:AgentPool",
            TYPED,
            "parameterised",
            "2026-05-02-preview",
        ),
        ("azure-native:resources:Resource", GENERIC, "generic", "2026-08-02-preview"),
        ("azure-native:resources/v20240701:Resource", GENERIC, "generic", "2026-08-02-preview"),
        ("azure-native_resources_v20240701:resources:Resource", GENERIC, "generic", "2026-08-02-preview"),
    ],
)
def test_pool_in_every_form(type_: str, props: object, kind: str, version: str):
    (pool,) = pools(type_, props)
    assert (pool.form.kind, pool.form.api_version) == (kind, version)
    assert (pool.name, pool.cluster.name, pool.cluster.resource_group) == ("gpunp", "aks", "rg")
    assert (pool.management_mode, pool.driver_mode) == ("Managed", "DRA")


@pytest.mark.parametrize(
    "change",
    [
        {"resourceProviderNamespace": "microsoft.containerservice", "resourceType": "AGENTPOOLS"},
        {"resourceProviderNamespace": "/Microsoft.ContainerService/"},
        {"parentResourcePath": "/managedClusters/aks/"},
        {"parentResourcePath": "", "resourceType": "managedClusters/aks/agentPools"},
        {"parentResourcePath": None, "resourceType": "managedClusters/aks/agentPools"},
        {"parentResourcePath": "MANAGEDCLUSTERS/aks"},
    ],
)
def test_other_ways_to_address_the_same_pool(change: dict[str, Any]):
    (pool,) = pools("azure-native:resources:Resource", {**GENERIC, **change})
    assert (pool.name, pool.cluster.name) == ("gpunp", "aks")


@pytest.mark.parametrize(
    "change",
    [
        {"resourceProviderNamespace": "Microsoft.Storage"},
        {"resourceType": "maintenanceConfigurations"},
        {"resourceProviderNamespace": None},
    ],
)
def test_other_generic_resources_are_nobodys_business(change: dict[str, Any]):
    assert not read(PulumiResource("azure-native:resources:Resource", "urn", {**GENERIC, **change}))


def test_generic_resource_whose_parts_are_not_known_yet_may_be_a_pool():
    (pool,) = pools("azure-native:resources:Resource", {**GENERIC, "resourceType": UNKNOWN, "properties": UNKNOWN})
    assert pool.driver_mode is UNKNOWN
    (pool,) = pools("azure-native:resources:Resource", {**GENERIC, "parentResourcePath": UNKNOWN})
    assert (pool.cluster.name, pool.name) == (UNKNOWN, "gpunp")
    (pool,) = pools("azure-native:resources:Resource", {**GENERIC, "resourceName": UNKNOWN})
    assert (pool.cluster.name, pool.name) == ("aks", UNKNOWN)


def test_outputs_say_where_a_pool_is_in_their_id():
    outputs = {"id": f"{ARM}/agentPools/gpunp", "name": "gpunp", "gpuProfile": {"driver": "Install"}}
    (pool,) = pools("azure-native:containerservice:AgentPool", outputs)
    assert (pool.name, pool.cluster.name, pool.cluster.resource_group) == ("gpunp", "aks", "RG")


def test_cluster_with_inline_pools():
    estate = read(
        PulumiResource(
            "azure-native:containerservice:ManagedCluster",
            "urn",
            {
                "resourceName": "aks",
                "kubernetesVersion": "1.35",
                "nodeProvisioningProfile": {"mode": "auto"},
                "agentPoolProfiles": [{"name": "system"}, {"name": "gpunp", "gpuProfile": {"nvidia": NVIDIA}}],
            },
        )
    )
    (cluster,) = estate.clusters
    assert (cluster.name, cluster.kubernetes_version, cluster.node_provisioning) == ("aks", "1.35", "Auto")
    assert [pool.name for pool in estate.pools] == ["system", "gpunp"]
    assert all(cluster.is_meant_by(pool.cluster) is True for pool in estate.pools)


def test_generic_cluster():
    props = {**GENERIC, "parentResourcePath": "", "resourceType": "managedClusters", "resourceName": "aks"}
    props["properties"] = {"kubernetesVersion": "1.34", "agentPoolProfiles": UNKNOWN}
    estate = read(PulumiResource("azure-native:resources:Resource", "urn", props))
    assert (estate.clusters[0].name, estate.clusters[0].kubernetes_version) == ("aks", "1.34")
    assert estate.pools[0].driver_mode is UNKNOWN


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enableAutoScaling", "true"),
        ("nodeTaints", ["gpu"]),
        ("nodeTaints", "sku=gpu:NoSchedule"),
        ("orchestratorVersion", "latest"),
        ("gpuProfile", "DRA"),
        ("count", "one"),
        ("nodeLabels", {"a": 1}),
    ],
)
def test_malformed_value_of_a_pool(key: str, value: object):
    (pool,) = pools("azure-native:containerservice:AgentPool", {**TYPED, key: value})
    assert [problem.path for problem in pool.malformed] == [key]


PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"
FOLDER = {"name": "p", "hostPath": {"path": "/var/lib/kubelet/device-plugins/"}}


def workload(spec: dict[str, Any], name: str = "x", kind: str = "DaemonSet") -> GpuComponent | None:
    wrapped = {"spec": spec} if kind == "Pod" else {"spec": {"template": {"spec": spec}}}
    module = "core/v1" if kind == "Pod" else "apps/v1"
    return component(f"kubernetes:{module}:{kind}", {"metadata": {"name": name, "namespace": "n"}, **wrapped})


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": [{"image": PLUGIN}]},
        {"containers": [{"image": "mirror/nvidia-gpu-device-plugin:1"}]},
        {"containers": [{"image": "mirror/agent:1"}], "volumes": [FOLDER]},
        {"containers": [{"image": "mirror/agent:1", "command": ["nvidia-device-plugin"]}]},
        {"containers": [{"image": "pause"}], "initContainers": [{"image": PLUGIN}]},
        {"containers": [{"image": UNKNOWN}], "volumes": [FOLDER]},
    ],
)
@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment", "StatefulSet", "Pod"])
def test_a_device_plugin_under_any_name_and_kind(spec: dict[str, Any], kind: str):
    found = workload(spec, kind=kind)
    assert found is not None
    assert (found.product, found.device_plugin) == ("device-plugin", True)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("web", {"containers": [{"image": "nginx"}]}),
        ("rdma-shared-dp", {"containers": [{"image": "mellanox/k8s-rdma-shared-dev-plugin"}], "volumes": [FOLDER]}),
        ("sriov", {"containers": [{"image": "nfvpe/sriov-device-plugin"}], "volumes": [FOLDER]}),
        ("amd-gpu", {"containers": [{"image": "rocm/k8s-device-plugin"}], "volumes": [FOLDER]}),
        ("intel-gpu", {"containers": [{"image": "intel/intel-gpu-plugin"}], "volumes": [FOLDER]}),
        ("csi", {"containers": [{"image": "csi"}], "volumes": [{"hostPath": {"path": "/var/lib/kubelet/plugins"}}]}),
        ("exporter", {"containers": [{"image": "nvcr.io/nvidia/k8s/dcgm-exporter:4"}]}),
        ("job", {"containers": [{"image": "cuda", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}),
        ("empty", {}),
    ],
)
def test_other_workloads_are_no_device_plugin(name: str, spec: dict[str, Any]):
    assert workload(spec, name) is None


def test_nvidias_dra_driver_as_a_daemonset():
    gpus = {
        "image": "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.4.1",
        "command": ["gpu-kubelet-plugin"],
    }
    domains = {**gpus, "command": ["compute-domain-kubelet-plugin"]}
    found = workload({"containers": [domains, gpus]})
    assert found is not None
    assert (found.product, found.dra) == ("dra-driver", True)
    assert workload({"containers": [domains]}) is None


def test_daemonset_whose_image_is_not_known_yet_may_be_one():
    found = workload({"containers": [{"image": UNKNOWN}]})
    assert found is not None
    assert found.device_plugin is UNKNOWN


def test_a_pod_bound_to_a_node_by_name_is_kept_away_by_nothing():
    found = workload({"nodeName": "aks-gpunp-0", "nodeSelector": {"a": "b"}, "containers": [{"image": PLUGIN}]})
    assert found is not None
    assert found.selection == Selection()
    assert found.tolerations == (Toleration(operator="Exists"),)


@pytest.mark.parametrize(
    "token", ["kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v3:Chart", "kubernetes:helm.sh/v4:Chart"]
)
@pytest.mark.parametrize(
    ("chart", "product"),
    [
        ("gpu-operator", "gpu-operator"),
        ("nvidia/gpu-operator", "gpu-operator"),
        ("oci://nvcr.io/nvidia/gpu-operator", "gpu-operator"),
        ("https://helm.ngc.nvidia.com/nvidia/charts/gpu-operator-v26.3.2.tgz", "gpu-operator"),
        ("./charts/gpu-operator/", "gpu-operator"),
        ("nvidia-dra-driver-gpu", "dra-driver"),
        ("oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu", "dra-driver"),
        ("nvdp/nvidia-device-plugin", "device-plugin"),
    ],
)
def test_chart_under_every_name(token: str, chart: str, product: str):
    found = component(token, {"chart": chart})
    assert found is not None
    assert found.product == product
    assert found.device_plugin or found.dra


@pytest.mark.parametrize(
    ("chart", "product"),
    [
        ("oci://registry.example/gpu-operator@sha256:0f1e", "gpu-operator"),
        ("https://charts.example/nvidia-device-plugin-0.17.0.tgz?x=1", "device-plugin"),
    ],
)
def test_chart_by_digest_or_with_a_query(chart: str, product: str):
    assert product_of(chart) == product


def test_the_plugins_chart_may_deploy_feature_discovery_alone():
    found = component(
        "kubernetes:helm.sh/v4:Chart", {"chart": "nvidia-device-plugin", "values": {"devicePlugin": {"enabled": False}}}
    )
    assert found is not None
    assert found.device_plugin is False


def test_other_charts_are_nobodys_business():
    assert component("kubernetes:helm.sh/v3:Release", {"chart": "ingress-nginx", "values": UNKNOWN}) is None


def operator(**props: object) -> GpuComponent:
    found = component("kubernetes:helm.sh/v3:Release", {"chart": "gpu-operator", **props})
    assert found is not None
    return found


def test_switches_of_the_gpu_operator():
    found = operator(values={"devicePlugin": {"enabled": False}, "driver": None})
    assert (found.device_plugin, found.driver, found.toolkit) == (False, True, True)


def test_values_may_come_from_files_and_the_programs_own_win():
    files = [{"text": "devicePlugin: {enabled: false}\ndriver: {enabled: false}"}, {"text": "driver: {enabled: true}"}]
    assert operator(valueYamlFiles=files).device_plugin is False
    assert operator(valueYamlFiles=files).driver is True
    assert operator(valueYamlFiles=files, values={"devicePlugin": {"enabled": True}}).device_plugin is True


def test_a_values_file_that_cannot_be_read_is_malformed_and_decides_nothing():
    found = operator(valueYamlFiles=[{"uri": "https://example.com/values.yaml"}], values={"driver": {"enabled": False}})
    assert (found.driver, found.device_plugin) == (False, UNKNOWN)
    assert [problem.path for problem in found.malformed] == ["valueYamlFiles[0]"]
    assert operator(valueYamlFiles=[{"text": "a: ["}]).malformed


def test_values_that_are_not_known_yet():
    assert operator(values=UNKNOWN).device_plugin is UNKNOWN
    assert operator(valueYamlFiles=UNKNOWN).toolkit is UNKNOWN
    assert operator(values={"devicePlugin": {"enabled": UNKNOWN}}).device_plugin is UNKNOWN


def test_a_switch_as_text_is_malformed():
    found = operator(values={"devicePlugin": {"enabled": "false"}})
    assert found.device_plugin is UNKNOWN
    assert [problem.path for problem in found.malformed] == ["values.devicePlugin.enabled"]


def test_cluster_policy_has_the_keys_of_the_chart():
    found = component("kubernetes:nvidia.com/v1:ClusterPolicy", {"spec": {"devicePlugin": {"enabled": False}}})
    assert found is not None
    assert (found.product, found.device_plugin) == ("gpu-operator", False)


def test_types_without_facts_are_told_apart_before_anything_is_read():
    for type_ in (
        "kubernetes:core/v1:ConfigMap",
        "azure-native:storage:StorageAccount",
        "aws:s3:Bucket",
        "",
        "a:b",
        ":::",
    ):
        assert reader_for(type_) is None


def test_the_cluster_of_a_kubernetes_provider():
    ref = provider_cluster(ARM)
    assert (ref.name, ref.resource_group) == ("aks", "RG")
    for other in (None, UNKNOWN, "prod", 1):
        assert provider_cluster(other).name is None
