"""Which nodes a cluster should have: from the stored pools to the plan of the simulated kubelets."""

import datetime as dt
from typing import Any

from twin.arm.sizes import VmSize, find
from twin.arm.versions import minor_of
from twin.nodeplan import ClusterPlan, GpuMode, GpuPlan, NodePlan, TaintPlan

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"

# Millicores of CPU that AKS reserves on a node, by vCPUs ("Resource reservations" in the AKS documents).
_RESERVED_CPU = ((1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740), (128, 1380))

Machine = dict[str, Any]
"""One machine of a pool, as stored: `index`, `version`, `image`, `surge`, `absent`."""


def new_machine(machines: list[Machine], version: str, image: str, *, surge: bool = False) -> Machine:
    """Return a machine with the lowest free index."""
    used = {machine["index"] for machine in machines}
    index = next(number for number in range(len(used) + 1) if number not in used)
    return {"index": index, "version": version, "image": image, "surge": surge, "absent": False}


def node_name(cluster: dict[str, Any], pool: dict[str, Any], machine: Machine) -> str:
    """Return the Node's name, e.g. `aks-gpunp-31064209-vmss00000a`."""
    return f"aks-{pool['name']}-{cluster['twin']['suffix']}-vmss{_base36(machine['index']):0>6}"


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, rest = divmod(number, 36)
        digits = _BASE36[rest] + digits
    return digits


def effective_os(sku: str, version: str) -> str:
    """Return the concrete OS SKU: `Ubuntu` means 22.04 before Kubernetes 1.35 and 24.04 from it on."""
    if sku == "Ubuntu":
        return "Ubuntu2404" if minor_of(version) >= 35 else "Ubuntu2204"
    return {"AzureLinux": "AzureLinux3", "Mariner": "AzureLinux3", "CBLMariner": "AzureLinux3"}.get(sku, sku)


def newest_image(sku: str, version: str, today: dt.date) -> str:
    """Return the name of this month's node image (assumed: one each month)."""
    release = f"{today:%Y%m}.06.0"
    images = {
        "Ubuntu2204": "AKSUbuntu-2204gen2containerd",
        "Ubuntu2404": "AKSUbuntu-2404gen2containerd",
        "AzureLinux3": "AKSAzureLinux-V3gen2",
    }
    concrete = effective_os(sku, version)
    return f"{images.get(concrete, f'AKS{concrete}-gen2')}-{release}"


def cluster_plan(cluster: dict[str, Any], pools: list[dict[str, Any]]) -> ClusterPlan:
    """Return the plan of all nodes of a cluster."""
    nodes = [
        _node(cluster, pool, machine) for pool in pools for machine in pool["twin"]["machines"] if not machine["absent"]
    ]
    return ClusterPlan(nodes=nodes)


def gpu_mode(properties: dict[str, Any]) -> GpuMode:
    """Return how the pool's nodes offer their GPUs."""
    size = find(properties["vmSize"])
    if size is None or size.gpu is None:
        return "none"
    profile = properties.get("gpuProfile", {})
    nvidia = profile.get("nvidia", {})
    if nvidia.get("managementMode") == "Managed":
        return "dra" if nvidia.get("driverMode") == "DRA" else "device-plugin"
    return "driverless" if profile.get("driver") == "None" else "driver-only"


def _node(cluster: dict[str, Any], pool: dict[str, Any], machine: Machine) -> NodePlan:
    properties = pool["properties"]
    size = find(properties["vmSize"])
    if size is None:
        raise ValueError(f"pool {pool['name']} was stored with the unknown VM size {properties['vmSize']}")
    name = node_name(cluster, pool, machine)
    mode = gpu_mode(properties)
    gpu = size.gpu
    has_driver = gpu is not None and mode not in ("none", "driverless")
    os_image, kernel = _os(effective_os(properties["osSKU"], machine["version"]))
    memory_mib = size.memory_gib * 1024
    return NodePlan(
        name=name,
        pool=pool["name"],
        labels=_labels(cluster, pool, machine, size, name),
        taints=[_taint(text) for text in properties.get("nodeTaints", [])],
        provider_id=_provider_id(cluster, pool, machine),
        cpu=str(size.vcpus),
        memory=f"{memory_mib}Mi",
        allocatable_cpu=f"{size.vcpus * 1000 - _reserved_cpu(size.vcpus)}m",
        allocatable_memory=f"{memory_mib - _reserved_memory(memory_mib, properties['maxPods'])}Mi",
        ephemeral_storage=f"{properties['osDiskSizeGB']}Gi",
        pods=properties["maxPods"],
        architecture=size.architecture,
        kubelet_version=f"v{machine['version']}",
        os_image=os_image,
        kernel_version=kernel,
        container_runtime_version="containerd://2.0.7-1",
        gpu_mode=mode,
        driver_version=gpu.driver if gpu and has_driver else "",
        cuda_version=gpu.cuda if gpu and has_driver else "",
        gpus=_gpus(size),
    )


def _gpus(size: VmSize) -> list[GpuPlan]:
    gpu = size.gpu
    if gpu is None:
        return []
    plan = GpuPlan(
        product=gpu.product,
        brand=gpu.brand,
        architecture=gpu.architecture,
        compute_capability=gpu.compute_capability,
        memory_mib=gpu.memory_mib,
    )
    return [plan] * size.gpus


def _reserved_cpu(vcpus: int) -> int:
    return next((reserved for upto, reserved in _RESERVED_CPU if vcpus <= upto), 1380)


def _reserved_memory(memory_mib: int, max_pods: int) -> int:
    """Return what AKS keeps from 1.29 on: 20 MB a pod + 50 MB, at most a quarter, and 100 MiB to evict at."""
    return min(20 * max_pods + 50, memory_mib // 4) + 100


def _os(sku: str) -> tuple[str, str]:
    images = {
        "Ubuntu2204": ("Ubuntu 22.04.5 LTS", "5.15.0-1102-azure"),
        "Ubuntu2404": ("Ubuntu 24.04.4 LTS", "6.8.0-1051-azure"),
        "AzureLinux3": ("Microsoft Azure Linux 3.0", "6.6.121.1-1.azl3"),
    }
    return images.get(sku, (sku, "6.8.0-1051-azure"))


def parse_taint(text: str) -> tuple[str, str, str] | None:
    """Return key, value and effect of `key=value:Effect`; None when it isn't a taint."""
    head, colon, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    if not colon or not key or effect not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
        return None
    return key, value, effect


def _taint(text: str) -> TaintPlan:
    parsed = parse_taint(text)
    if parsed is None:
        raise ValueError(f"a pool was stored with the taint {text!r}")
    key, value, effect = parsed
    return TaintPlan.model_validate({"key": key, "value": value, "effect": effect})


def _provider_id(cluster: dict[str, Any], pool: dict[str, Any], machine: Machine) -> str:
    subscription = cluster["id"].split("/")[2]
    group = cluster["properties"]["nodeResourceGroup"].lower()
    scale_set = f"aks-{pool['name']}-{cluster['twin']['suffix']}-vmss"
    return (
        f"azure:///subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/"
        f"virtualMachineScaleSets/{scale_set}/virtualMachines/{machine['index']}"
    )


def _labels(cluster: dict[str, Any], pool: dict[str, Any], machine: Machine, size: VmSize, name: str) -> dict[str, str]:
    properties, location = pool["properties"], cluster["location"]
    zones = properties.get("availabilityZones", [])
    zone = f"{location}-{zones[machine['index'] % len(zones)]}" if zones else "0"
    labels = dict(properties.get("nodeLabels", {}))
    labels |= {
        "agentpool": pool["name"],
        "beta.kubernetes.io/arch": size.architecture,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.azure.com/agentpool": pool["name"],
        "kubernetes.azure.com/cluster": cluster["properties"]["nodeResourceGroup"][:63],
        "kubernetes.azure.com/mode": properties["mode"].lower(),
        "kubernetes.azure.com/node-image-version": machine["image"],
        "kubernetes.azure.com/nodepool-type": properties["type"],
        "kubernetes.azure.com/os-sku": properties["osSKU"],
        "kubernetes.azure.com/os-sku-effective": effective_os(properties["osSKU"], machine["version"]),
        "kubernetes.azure.com/os-sku-requested": properties["osSKU"],
        "kubernetes.azure.com/role": "agent",
        "kubernetes.azure.com/sku-cpu": str(size.vcpus),
        "kubernetes.azure.com/sku-memory": str(size.memory_gib * 1024),
        "kubernetes.io/arch": size.architecture,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": size.name,
        "topology.kubernetes.io/region": location,
        "topology.kubernetes.io/zone": zone,
    }
    if size.gpu:
        labels |= {"accelerator": "nvidia", "kubernetes.azure.com/accelerator": "nvidia"}
    if gpu_mode(properties) in ("dra", "device-plugin"):
        labels["kubernetes.azure.com/dcgm-exporter"] = "enabled"
    return labels
