"""Ways to get past a policy pack, as data: what somebody would write, and the rule that has to speak all the same."""

import json
from typing import Any, NamedTuple

from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.examples import Resource

GENERIC = "azure-native:resources:Resource"
GROUP = "azure-native:containerservice"
RELEASE = "kubernetes:helm.sh/v3:Release"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
AUTOSCALER = "dra-with-autoscaler"
TWO = "dual-advertisement"
PLUGIN_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"
TEXT_ASSET = {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17"}
"""How a state marks an asset."""


class Bypass(NamedTuple):
    """One technique; `waits` when a value that isn't known yet has to be announced rather than refused."""

    kind: str
    title: str
    rule: str
    resources: tuple[Resource, ...]
    waits: bool = False


DRA: dict[str, Any] = {"nvidia": {"managementMode": "Managed", "driverMode": "DRA"}}


def body(**changes: Any) -> dict[str, Any]:
    """A DRA pool with the autoscaler, as the REST API has it."""
    return {"vmSize": "Standard_NC24ads_A100_v4", "gpuProfile": DRA, "enableAutoScaling": True, **changes}


def still(**changes: Any) -> dict[str, Any]:
    """The same without anything wrong."""
    return body(enableAutoScaling=False, **changes)


def generic(properties: Any, **changes: Any) -> Resource:
    props = {
        "apiVersion": "2026-08-02-preview",
        "resourceGroupName": "rg-dev",
        "resourceProviderNamespace": "Microsoft.ContainerService",
        "parentResourcePath": "managedClusters/aks-dev",
        "resourceType": "agentPools",
        "resourceName": "gpunp",
        "properties": properties,
    }
    return Resource("gpunp", GENERIC, {**props, **changes})


def typed(type_: str, **changes: Any) -> Resource:
    props = {"resourceGroupName": "rg-dev", "resourceName": "aks-dev", "agentPoolName": "gpunp", **body()}
    return Resource("gpunp", type_, {**props, **changes})


def cluster(type_: str = f"{GROUP}:ManagedCluster", **changes: Any) -> Resource:
    return Resource("cluster", type_, {"resourceGroupName": "rg-dev", "resourceName": "aks-dev", **changes})


def deployment(template: Any, type_: str = "azure-native:resources:Deployment") -> Resource:
    properties = {"mode": "Incremental", "template": template}
    return Resource("deployment", type_, {"resourceGroupName": "rg-dev", "properties": properties})


def template(*resources: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"resources": list(resources), **changes}


ARM_POOL = {
    "type": "Microsoft.ContainerService/managedClusters/agentPools",
    "apiVersion": "2026-08-02-preview",
    "name": "aks-dev/gpunp",
    "properties": body(),
}
NESTED = {
    "type": "Microsoft.Resources/deployments",
    "apiVersion": "2024-03-01",
    "name": "inner",
    "properties": {"mode": "Incremental", "template": template(ARM_POOL)},
}
CHILD = {
    "type": "Microsoft.ContainerService/managedClusters",
    "apiVersion": "2026-08-02-preview",
    "name": "aks-dev",
    "properties": {},
    "resources": [{**ARM_POOL, "type": "agentPools", "name": "gpunp"}],
}
PARAMETER = template(
    {**ARM_POOL, "properties": body(enableAutoScaling="[parameters('scale')]")},
    parameters={"scale": {"type": "bool", "defaultValue": True}},
)


def forms(*entries: tuple[str, Resource]) -> list[Bypass]:
    return [Bypass("forms of resources", title, AUTOSCALER, (resource,)) for title, resource in entries]


FORMS = forms(
    ("generic resource", generic(body())),
    ("generic, an api-version from the future", generic(body(), apiVersion="2031-01-01-preview")),
    (
        "generic, the whole type in resourceType",
        generic(
            body(),
            parentResourcePath="",
            resourceType="managedClusters/agentPools",
            resourceName="aks-dev/gpunp",
        ),
    ),
    ("typed", typed(f"{GROUP}:AgentPool")),
    ("versioned", typed(f"{GROUP}/v20260502preview:AgentPool")),
    ("versioned in an unusual way", typed(f"{GROUP}/v20311231:AgentPool")),
    (
        "parameterised package",
        typed("azure-native_containerservice_v20260802preview:containerservice:AgentPool"),
    ),
    ("inline in a typed cluster", cluster(agentPoolProfiles=[{"name": "gpunp", **body()}])),
    (
        "inline in a generic cluster",
        generic(
            {"agentPoolProfiles": [{"name": "gpunp", **body()}]},
            parentResourcePath="",
            resourceType="managedClusters",
            resourceName="aks-dev",
        ),
    ),
    ("ARM template", deployment(template(ARM_POOL))),
    ("ARM template as text", deployment(json.dumps(template(ARM_POOL)))),
    ("ARM template in an ARM template", deployment(template(NESTED))),
    ("ARM template, pool inside the cluster", deployment(template(CHILD))),
    ("ARM template, value by parameter", deployment(PARAMETER)),
    (
        "ARM template with symbolic names",
        deployment({"languageVersion": "2.0", "resources": {"pool": ARM_POOL}}),
    ),
    (
        "azapi",
        Resource(
            "gpunp",
            "azapi:index/resource:Resource",
            {
                "type": "Microsoft.ContainerService/managedClusters/agentPools@2026-08-02-preview",
                "name": "gpunp",
                "parentId": "/subscriptions/0/resourceGroups/rg-dev/providers/Microsoft.ContainerService"
                "/managedClusters/aks-dev",
                "body": {"properties": body()},
            },
        ),
    ),
)

CASING = [
    Bypass("casing", title, AUTOSCALER, (resource,))
    for title, resource in (
        (
            "values in lower case",
            generic(body(gpuProfile={"nvidia": {"managementMode": "managed", "driverMode": "dra"}})),
        ),
        (
            "values in capitals",
            generic(body(gpuProfile={"nvidia": {"managementMode": "MANAGED", "driverMode": "Dra"}})),
        ),
        (
            "keys in other cases",
            generic(
                {
                    "VMSize": "standard_nc24ads_a100_v4",
                    "GpuProfile": {"NVIDIA": DRA["nvidia"]},
                    "enableautoscaling": True,
                }
            ),
        ),
        ("resource type in capitals", generic(body(), resourceType="AGENTPOOLS")),
        ("namespace in lower case", generic(body(), resourceProviderNamespace="microsoft.containerservice")),
        ("parent in capitals", generic(body(), parentResourcePath="MANAGEDCLUSTERS/aks-dev")),
    )
]

STRINGS = [
    Bypass(
        "strings for booleans",
        f"enableAutoScaling: {value!r}",
        "malformed-value",
        (generic(body(enableAutoScaling=value)),),
    )
    for value in ("true", "True", "yes", 1, "1", ["true"])
]

NULLS = [
    Bypass(
        "nulls",
        "managementMode null beside driverMode DRA",
        "dra-needs-managed-gpu",
        (generic(still(gpuProfile={"nvidia": {"managementMode": None, "driverMode": "DRA"}})),),
    ),
    Bypass(
        "nulls",
        "driver mode null, which means the device plugin",
        "driver-mode-not-set",
        (generic(still(gpuProfile={"nvidia": {"managementMode": "Managed", "driverMode": None}})),),
    ),
]


NO_VALUES: dict[str, Any] = {}


def release(chart: Any, values: Any = NO_VALUES, type_: str = RELEASE, **changes: Any) -> Resource:
    props = {"name": "nvidia", "chart": chart, "values": values, **changes}
    return Resource("release", type_, props)


def two(kind: str, title: str, *resources: Resource, waits: bool = False) -> Bypass:
    """Something that hands out GPUs beside AKS's own DRA driver."""
    return Bypass(kind, title, TWO, (generic(still()), *resources), waits)


NULLS += [
    two("nulls", "devicePlugin.enabled null is not off", release("gpu-operator", {"devicePlugin": {"enabled": None}})),
    two("nulls", "devicePlugin null is not off", release("gpu-operator", {"devicePlugin": None})),
    two("nulls", "values null", release("gpu-operator", None)),
]
CHARTS = [
    two("aliases of charts", title, release(chart, type_=type_))
    for title, chart, type_ in (
        ("by repository and name", "nvidia/gpu-operator", RELEASE),
        ("by OCI reference of a mirror", "oci://registry.example.com/mirror/nvidia/gpu-operator", RELEASE),
        ("OCI reference with a version", "oci://registry.example.com/gpu-operator:v25.3.0", RELEASE),
        ("archive at an address", "https://charts.example.com/gpu-operator-v25.3.0.tgz", RELEASE),
        ("archive in a folder", "./vendor/gpu-operator-v25.3.0.tgz", RELEASE),
        ("unpacked in a folder", "./charts/gpu-operator/", RELEASE),
        ("in capitals", "NVIDIA/GPU-Operator", RELEASE),
        ("the DRA driver's old name", "nvidia/nvidia-dra-driver-gpu", RELEASE),
        ("the DRA driver's new name", "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu", RELEASE),
        ("the device plugin", "nvdp/nvidia-device-plugin", RELEASE),
        ("as a v4 Chart", "gpu-operator", "kubernetes:helm.sh/v4:Chart"),
        ("as a v3 Chart", "gpu-operator", "kubernetes:helm.sh/v3:Chart"),
    )
]


def files(*texts: str) -> list[dict[str, str]]:
    return [{**TEXT_ASSET, "text": text} for text in texts]


OFF = "devicePlugin: {enabled: false}\n"
ON = "devicePlugin: {enabled: true}\n"
VALUE_FILES = [
    two("valueYamlFiles", title, release("gpu-operator", values, valueYamlFiles=found))
    for title, values, found in (
        ("the last file wins", {}, files(OFF, ON)),
        ("the program's values win over files", {"devicePlugin": {"enabled": True}}, files(OFF)),
        ("nothing is said in a file", {}, files("driver: {enabled: false}\n")),
        ("JSON in a file", {}, files('{"devicePlugin": {"enabled": true}}')),
    )
] + [
    Bypass(
        "valueYamlFiles",
        "text for a boolean in a file",
        "malformed-value",
        (release("gpu-operator", valueYamlFiles=files('devicePlugin: {enabled: "no"}\n')),),
    ),
    Bypass(
        "valueYamlFiles",
        "a file that can't be read",
        "malformed-value",
        (release("gpu-operator", valueYamlFiles=files("devicePlugin: {enabled: [\n")),),
    ),
]
UNKNOWNS = [
    Bypass("unknown outputs", title, AUTOSCALER, (generic(properties),), waits=True)
    for title, properties in (
        ("the value itself", body(enableAutoScaling=UNKNOWN)),
        ("the mode beside it", body(gpuProfile={"nvidia": {"managementMode": "Managed", "driverMode": UNKNOWN}})),
        ("the profile beside it", body(gpuProfile=UNKNOWN)),
        ("all properties", UNKNOWN),
    )
] + [
    Bypass(
        "unknown outputs",
        "an inline pool in an unknown list",
        AUTOSCALER,
        (cluster(agentPoolProfiles=UNKNOWN),),
        waits=True,
    ),
    Bypass(
        "unknown outputs",
        "an unknown element of a list",
        AUTOSCALER,
        (cluster(agentPoolProfiles=[UNKNOWN]),),
        waits=True,
    ),
    two("unknown outputs", "chart", release(UNKNOWN), waits=True),
    two("unknown outputs", "a switch", release("gpu-operator", {"devicePlugin": {"enabled": UNKNOWN}}), waits=True),
    two("unknown outputs", "a whole file", release("gpu-operator", valueYamlFiles=[UNKNOWN]), waits=True),
    two("unknown outputs", "values", release("gpu-operator", UNKNOWN), waits=True),
]


def pod(image: Any = PLUGIN_IMAGE, path: str | None = None, **changes: Any) -> dict[str, Any]:
    """A pod spec; `path` is a folder of the node that its first container gets."""
    volumes = [{"name": "host", "hostPath": {"path": path}}] if path else []
    mounts = [{"name": "host", "mountPath": "/host"}] if path else []
    return {"containers": [{"name": "main", "image": image, "volumeMounts": mounts}], "volumes": volumes, **changes}


def workload(spec: dict[str, Any], type_: str = DAEMON_SET) -> Resource:
    kind = type_.rpartition(":")[2].removesuffix("Patch")
    metadata = {"name": "gpu-agent", "namespace": "kube-system"}
    match kind:
        case "Pod":
            inner: dict[str, Any] = spec
        case "CronJob":
            inner = {"schedule": "@daily", "jobTemplate": {"spec": {"template": {"spec": spec}}}}
        case _:
            inner = {
                "selector": {"matchLabels": {"app": "a"}},
                "template": {"metadata": {"labels": {"app": "a"}}, "spec": spec},
            }
    return Resource("agent", type_, {"metadata": metadata, "spec": inner})


PLUGIN_FOLDER = "/var/lib/kubelet/device-plugins"
RENAMED = [
    two("renamed device plugin", title, workload(spec))
    for title, spec in (
        ("image of another name, with the plugins' folder", pod("registry.example.com/agent:1", PLUGIN_FOLDER)),
        ("the folder with a slash at its end", pod("registry.example.com/agent:1", f"{PLUGIN_FOLDER}/")),
        (
            "the folder by way of another",
            pod("registry.example.com/agent:1", "/var/lib/kubelet/pods/../device-plugins"),
        ),
        ("image by digest", pod(f"nvcr.io/nvidia/k8s-device-plugin@sha256:{'0' * 64}")),
        ("mirror", pod("registry.example.com:5000/mirror/nvidia/k8s-device-plugin:v0.17.1")),
        ("image in capitals", pod("registry.example.com/NVIDIA/K8S-Device-Plugin:v1")),
    )
]
KINDS = [
    two("other kinds", title, workload(spec, type_))
    for title, type_, spec in (
        ("Deployment", "kubernetes:apps/v1:Deployment", pod()),
        ("StatefulSet", "kubernetes:apps/v1:StatefulSet", pod()),
        ("Patch resource", "kubernetes:apps/v1:DaemonSetPatch", pod()),
        ("old api-version", "kubernetes:extensions/v1beta1:DaemonSet", pod()),
    )
] + [
    two(
        "other kinds",
        "list of objects",
        Resource("list", "kubernetes:apps/v1:DaemonSetList", {"items": [dict(workload(pod()).properties)]}),
    ),
    two(
        "other kinds",
        "ClusterPolicy without a chart",
        Resource(
            "policy",
            "kubernetes:nvidia.com/v1:ClusterPolicy",
            {"metadata": {"name": "p"}, "spec": {"devicePlugin": {"enabled": True}}},
        ),
    ),
    two(
        "other kinds",
        "Flux",
        Resource(
            "flux",
            "kubernetes:helm.toolkit.fluxcd.io/v2:HelmRelease",
            {"metadata": {"name": "gpu"}, "spec": {"chart": {"spec": {"chart": "gpu-operator"}}, "values": {}}},
        ),
    ),
    two(
        "other kinds",
        "Argo CD",
        Resource(
            "argo",
            "kubernetes:argoproj.io/v1alpha1:Application",
            {
                "metadata": {"name": "gpu"},
                "spec": {
                    "source": {"chart": "gpu-operator", "repoURL": "https://example.com", "targetRevision": "v25.3.0"}
                },
            },
        ),
    ),
]
POD = "kubernetes:core/v1:Pod"
MIRROR = {"name": "agent", "namespace": "kube-system", "annotations": {"kubernetes.io/config.mirror": "1"}}
STATIC = [
    two("static pods", "bound to a node", workload(pod(nodeName="aks-gpunp-0"), POD)),
    two("static pods", "mirror of a static pod", Resource("agent", POD, {"metadata": MIRROR, "spec": pod()})),
    two("static pods", "of another image", workload(pod("registry.example.com/a:1", PLUGIN_FOLDER), POD)),
    two("static pods", "in a list", Resource("agent", f"{POD}List", {"items": [{"metadata": MIRROR, "spec": pod()}]})),
]
CLOSED = "[secret]"
"""What the engine makes of a secret in a file that it can't decrypt."""
OPEN = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "true"}
"""A secret as an export with `--show-secrets` has it."""
SECRETS = [
    Bypass("secrets", title, AUTOSCALER, (generic(properties),), waits=True)
    for title, properties in (
        ("the value itself", body(enableAutoScaling=CLOSED)),
        ("the profile beside it", body(gpuProfile=CLOSED)),
        ("all properties", CLOSED),
    )
] + [Bypass("secrets", "a value that can be read", AUTOSCALER, (generic(body(enableAutoScaling=OPEN)),))]
INIT = [
    two("init containers", title, workload({**pod("registry.example.com/pause:3"), **changes}))
    for title, changes in (
        ("init container", {"initContainers": [{"name": "plugin", "image": PLUGIN_IMAGE}]}),
        ("sidecar", {"initContainers": [{"name": "plugin", "image": PLUGIN_IMAGE, "restartPolicy": "Always"}]}),
        (
            "second of several",
            {
                "initContainers": [
                    {"name": "a", "image": "busybox"},
                    {"name": "plugin", "image": PLUGIN_IMAGE, "restartPolicy": "Always"},
                ]
            },
        ),
    )
]
CONTROL = (generic(still()), release("gpu-operator", {"devicePlugin": {"enabled": False}}))
"""The same resources with nothing to say about, for the rules above."""
BYPASSES = [
    *FORMS,
    *CASING,
    *STRINGS,
    *NULLS,
    *CHARTS,
    *VALUE_FILES,
    *UNKNOWNS,
    *RENAMED,
    *KINDS,
    *STATIC,
    *SECRETS,
    *INIT,
]
