"""Whatever a program writes, reading and judging end with a verdict and never with an exception."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.pulumi_resources import PulumiResource, read
from aksgpu.rules.book import BOOK, judge
from aksgpu.settings import SettingsError, load

KEYS = (
    "properties", "gpuProfile", "nvidia", "managementMode", "driverMode", "driver", "migStrategy", "migProfiles",
    "enableAutoScaling", "vmSize", "osSKU", "osType", "orchestratorVersion", "nodeTaints", "nodeLabels", "tags", "mode",
    "count", "apiVersion", "resourceProviderNamespace", "resourceType", "resourceName", "parentResourcePath", "id",
    "agentPoolName", "agentPoolProfiles", "kubernetesVersion", "nodeProvisioningProfile", "name", "type", "GPUPROFILE",
    "metadata", "spec", "template", "containers", "initContainers", "image", "command", "args", "volumes", "hostPath",
    "path", "nodeSelector", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms", "matchExpressions", "matchFields", "key", "operator", "values", "tolerations", "effect",
    "chart", "valueYamlFiles", "text", "devicePlugin", "enabled", "daemonsets", "kubeletPlugin", "resources", "gpus",
    "templateLink", "parameters", "variables", "copy", "condition", "body", "parentId", "defaultNodePool", "gpuDriver",
    "virtualMachinesProfile", "scale", "manual", "autoscale", "size", "templateContent", "kubernetesClusterId",
)  # fmt: skip
WORDS = (
    "DRA", "dra", "Managed", "Unmanaged", "None", "true", "", "1.35", "1.34.4", "Standard_NC24ads_A100_v4", "Windows",
    "AzureContainerLinux", "sku=gpu:NoSchedule", "gpu", "Microsoft.ContainerService", "agentPools", "managedClusters",
    "managedClusters/aks", "managedClusters/aks/agentPools", "gpunp", "2026-08-02-preview", "2025-09-01", "Exists",
    "In", "nvidia/gpu-operator", "nvidia-dra-driver-gpu", "/var/lib/kubelet/device-plugins", "k8s-device-plugin",
    "Auto", "a: [", "Microsoft.ContainerService/managedClusters", "[parameters('x')]", "[concat('a', 1)]", "[a",
    "Microsoft.ContainerService/managedClusters/agentPools@2026-08-02-preview", "Microsoft.Resources/deployments",
)  # fmt: skip
TYPES = (
    "azure-native:containerservice:AgentPool",
    "azure-native:containerservice:ManagedCluster",
    "azure-native:containerservice/v20260502preview:AgentPool",
    "azure-native:resources:Resource",
    "azure-native:resources:Deployment",
    "azure:containerservice/kubernetesCluster:KubernetesCluster",
    "azure:containerservice/kubernetesClusterNodePool:KubernetesClusterNodePool",
    "azure:core/resourceGroupTemplateDeployment:ResourceGroupTemplateDeployment",
    "azapi:index/resource:Resource",
    "kubernetes:apps/v1:DaemonSet",
    "kubernetes:core/v1:Pod",
    "kubernetes:batch/v1:CronJob",
    "kubernetes:helm.sh/v3:Release",
    "kubernetes:helm.sh/v4:Chart",
    "kubernetes:nvidia.com/v1:ClusterPolicy",
)

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2**70), st.floats(), st.sampled_from(WORDS), st.text(max_size=5),
    st.just(UNKNOWN),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=25,
)
properties = st.dictionaries(st.sampled_from(KEYS), values, max_size=10)
resources = st.lists(st.tuples(st.sampled_from(TYPES), st.one_of(properties, scalars)), max_size=4)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(resources)
def test_no_combination_of_properties_crashes_readers_or_rules(written: list[tuple[str, Any]]):
    from aksgpu.facts.estate import Estate

    estate = Estate.merge(
        read(PulumiResource(type_, f"urn::{index}", props)) for index, (type_, props) in enumerate(written)
    )
    for finding in judge(estate):
        assert finding.rule in BOOK
        assert finding.verdict.message
        assert finding.as_json()


pool_values = st.fixed_dictionaries(
    {},
    optional={
        "managementMode": st.sampled_from(["Managed", "Unmanaged", "managed", None, UNKNOWN, 1]),
        "driverMode": st.sampled_from(["DRA", "DevicePlugin", "dra", None, UNKNOWN, "other"]),
    },
)
autoscaling = st.sampled_from([True, False, None, UNKNOWN, "true"])


@settings(max_examples=200, deadline=None)
@given(pool_values, autoscaling)
def test_what_is_known_later_never_turns_a_failure_into_a_pass(nvidia: dict[str, Any], scaling: object):
    """A verdict on partly known values may only be sharpened: a failure stays one whatever the unknown becomes."""

    def failures(value: object, modes: dict[str, Any]) -> set[str]:
        props = {"vmSize": "Standard_NC24ads_A100_v4", "enableAutoScaling": value, "gpuProfile": {"nvidia": modes}}
        estate = read(PulumiResource("azure-native:containerservice:AgentPool", "urn", props))
        return {finding.rule.name for finding in judge(estate) if not finding.verdict.undecided}

    before = failures(scaling, nvidia)
    for known in (True, False):
        for mode in ("DRA", "DevicePlugin"):
            later = {key: mode if key == "driverMode" and value is UNKNOWN else value for key, value in nvidia.items()}
            later = {key: "Managed" if value is UNKNOWN else value for key, value in later.items()}
            assert before <= failures(known if scaling is UNKNOWN else scaling, later)


configuration = st.dictionaries(
    st.sampled_from(["cluster", "pools", "namespaces", "validation", "deviceClass", "previewFeature", "other"]).map(
        lambda key: f"aksgpu:{key}"
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers(-2, 40) | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["create", "use", "name", "kind", "vmSize", "count", "claims", "selectors", "resourceGroup", "pool"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    ),
    max_size=4,
)


@settings(max_examples=300, deadline=None)
@given(configuration)
def test_a_configuration_is_read_or_refused_in_plain_words(config: dict[str, Any]):
    try:
        load(config)
    except SettingsError as error:
        lines = str(error).splitlines()
        assert lines
        assert all(line.startswith("aksgpu:") for line in lines)
