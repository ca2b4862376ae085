"""What AKS demands of GPU pools. Texts are assumed where the AKS documents give only the rule."""

from typing import Any

from twin.arm import features
from twin.arm.errors import ArmError, invalid
from twin.arm.service import Document, Service
from twin.arm.sizes import VmSize
from twin.arm.versions import minor_of

FEATURE = "ManagedGPUExperiencePreview"
_NVIDIA = "properties.gpuProfile.nvidia"
_DRA_MINOR = 35
_NO_NVIDIA = ("Flatcar", "AzureContainerLinux")


def check(service: Service, cluster: Document, properties: dict[str, Any], size: VmSize) -> None:
    """Raise ArmError when the GPU settings of a pool (merged with what is stored) can't be."""
    profile = properties.get("gpuProfile", {})
    nvidia = profile.get("nvidia", {})
    if size.gpu is None:
        _without_gpu(properties, profile, nvidia, size)
        return
    _mig(properties, nvidia, size)
    managed = nvidia.get("managementMode") == "Managed"
    if nvidia.get("driverMode") and not managed:
        raise invalid(
            f"Setting {_NVIDIA}.driverMode to {nvidia['driverMode']} requires {_NVIDIA}.managementMode to be Managed.",
            f"{_NVIDIA}.driverMode",
        )
    if properties["osSKU"] == "Flatcar":
        raise invalid("osSKU Flatcar is not supported with NVIDIA GPU VM sizes.", "properties.osSKU")
    if managed:
        _managed(service, cluster)
    if nvidia.get("driverMode") == "DRA":
        _dra(properties)


def _without_gpu(properties: dict[str, Any], profile: dict[str, Any], nvidia: dict[str, Any], size: VmSize) -> None:
    if nvidia or profile.get("driver") or properties.get("gpuInstanceProfile"):
        raise invalid(
            f"The VM size {size.name} has no NVIDIA GPU: gpuProfile and gpuInstanceProfile are not allowed.",
            "properties.gpuProfile",
        )


def _managed(service: Service, cluster: Document) -> None:
    subscription = cluster["id"].split("/")[2]
    if features.state(service, subscription, "Microsoft.ContainerService", FEATURE) != "Registered":
        raise ArmError(
            400,
            "PreviewFeatureNotRegistered",
            f"Preview feature Microsoft.ContainerService/{FEATURE} not registered.",
        )


def _dra(properties: dict[str, Any]) -> None:
    version = properties["currentOrchestratorVersion"]
    target = f"{_NVIDIA}.driverMode"
    if minor_of(version) < _DRA_MINOR:
        raise invalid(
            f"driverMode DRA requires Kubernetes version 1.35 or later, the agent pool has {version}.", target
        )
    if properties.get("enableAutoScaling"):
        raise invalid("driverMode DRA is not supported with the cluster autoscaler (enableAutoScaling).", target)
    if properties["osSKU"] in _NO_NVIDIA:
        raise invalid(f"driverMode DRA is not supported with osSKU {properties['osSKU']}.", target)


def check_node_provisioning(cluster_properties: dict[str, Any], properties: dict[str, Any]) -> None:
    """Raise ArmError when a pool can't be in a cluster with node auto provisioning, and the cluster has it."""
    if cluster_properties.get("nodeProvisioningProfile", {}).get("mode") != "Auto":
        return
    if properties.get("enableAutoScaling"):
        raise ArmError(
            400,
            "OperationNotAllowed",
            ".properties.nodeProvisioningProfile.mode cannot be Auto while any AgentPools have "
            ".properties.enableAutoScaling enabled",
        )
    if is_dra(properties):
        raise invalid("driverMode DRA is not supported with node auto provisioning.", f"{_NVIDIA}.driverMode")


def _mig(properties: dict[str, Any], nvidia: dict[str, Any], size: VmSize) -> None:
    profiles, strategy = nvidia.get("migProfiles") or [], nvidia.get("migStrategy", "None")
    instance = properties.get("gpuInstanceProfile")
    target = f"{_NVIDIA}.migProfiles"
    if (profiles or instance) and not (size.gpu and size.gpu.mig):
        raise invalid(f"The VM size {size.name} does not support multi-instance GPU.", target)
    if profiles and instance:
        raise invalid("migProfiles and gpuInstanceProfile can't be set together.", target)
    if strategy == "Single" and len(profiles) > 1:
        raise invalid("migStrategy Single requires exactly one entry in migProfiles.", target)
    if profiles and strategy == "None":
        raise invalid("migProfiles requires migStrategy Single or Mixed.", target)
    if strategy in ("Single", "Mixed") and not (profiles or instance):
        raise invalid(f"migStrategy {strategy} requires migProfiles or gpuInstanceProfile.", target)


def is_managed(properties: dict[str, Any]) -> bool:
    """Say whether AKS manages the pool's GPU stack."""
    return properties.get("gpuProfile", {}).get("nvidia", {}).get("managementMode") == "Managed"


def is_dra(properties: dict[str, Any]) -> bool:
    """Say whether a pool asks for the DRA driver."""
    return properties.get("gpuProfile", {}).get("nvidia", {}).get("driverMode") == "DRA"
