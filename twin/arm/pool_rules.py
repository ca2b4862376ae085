"""Names, numbers and immutable properties of agent pools."""

import re
from typing import Any

from twin.arm.errors import ArmError, invalid
from twin.arm.machines import parse_taint
from twin.arm.sizes import VmSize, find

_NAME = re.compile(r"[a-z][a-z0-9]{0,11}")
_RESERVED = ("kubernetes.azure.com/", "kubernetes.io/")
_MAX_COUNT = 1000
_AMOUNT = re.compile(r"(\d{1,4}|\d{1,3}%)")

_IMMUTABLE = (
    "vmSize",
    "osType",
    "type",
    "maxPods",
    "osDiskSizeGB",
    "osDiskType",
    "kubeletDiskType",
    "vnetSubnetID",
    "podSubnetID",
    "availabilityZones",
    "scaleSetPriority",
    "gpuInstanceProfile",
    "nodePublicIPPrefixID",
    "proximityPlacementGroupID",
    "gpuProfile.driver",
    "gpuProfile.driverType",
    "gpuProfile.nvidia.managementMode",
    "gpuProfile.nvidia.driverMode",
    "gpuProfile.nvidia.migStrategy",
    "gpuProfile.nvidia.migProfiles",
)
_RANGES = {
    "drainTimeoutInMinutes": (5, 1440),
    "nodeSoakDurationInMinutes": (0, 30),
}


def check_name(name: str) -> None:
    """Raise ArmError when a Linux pool can't have this name."""
    if not _NAME.fullmatch(name):
        raise invalid(
            "The value of parameter agentPoolProfile.name is invalid. Please see https://aka.ms/aks-naming-rules for "
            "more details.",
            "agentPoolProfile.name",
        )


def check_simulated(properties: dict[str, Any]) -> None:
    """Raise ArmError for what AKS can do and the twin can't."""
    stopped = properties.get("powerState", {}).get("code") == "Stopped"
    for wrong, what in (
        (properties["osType"] == "Windows", "Windows nodes"),
        (properties["type"] != "VirtualMachineScaleSets", f"pools of type {properties['type']}"),
        (properties["upgradeStrategy"] != "Rolling", "blue-green upgrades"),
        (properties["mode"] == "Gateway", "gateway pools"),
        (stopped, "stopped pools"),
    ):
        if wrong:
            raise ArmError(501, "TwinNotSupported", f"The twin does not simulate {what}.")


def size_of(properties: dict[str, Any], location: str) -> VmSize:
    """Return the pool's VM size; raises ArmError when Azure has none of this name."""
    size = find(properties["vmSize"])
    if size is None:
        raise ArmError(
            400,
            "BadRequest",
            f"The VM size of {properties['vmSize']} is not allowed in your subscription in location '{location}'. "
            "For more details, please visit https://aka.ms/cpu-quota",
            target="properties.vmSize",
        )
    return size


def check_values(properties: dict[str, Any]) -> None:
    """Raise ArmError for numbers, labels and taints that can't be."""
    _check_count(properties)
    _check_autoscaling(properties)
    _check_upgrade_settings(properties)
    for key in properties.get("nodeLabels", {}):
        if key.startswith(_RESERVED):
            raise invalid(f"Label key {key} uses a prefix that AKS reserves.", "properties.nodeLabels")
    for taint in properties.get("nodeTaints", []):
        if parse_taint(taint) is None:
            raise invalid(
                f"The taint {taint!r} is invalid, it must look like key=value:NoSchedule.", "properties.nodeTaints"
            )


def _check_count(properties: dict[str, Any]) -> None:
    lowest = 1 if properties["mode"] == "System" else 0
    count = properties.get("count")
    if count is None:
        raise invalid("Required parameter agentPoolProfile.count is missing (null).", "agentPoolProfile.count")
    if not lowest <= count <= _MAX_COUNT:
        raise invalid(
            f"agentPoolProfile.count was {count}. It must be greater or equal to minCount:{lowest} and less than or "
            f"equal to maxCount:{_MAX_COUNT}. If allowedMinCount was expected to be 0 but is 1: 1) The nodepool is a "
            "VMAS pool. 2) api Version is less than 2020-03-01. 3) The node is a system pool.",
            "agentPoolProfile.count",
        )


def _check_autoscaling(properties: dict[str, Any]) -> None:
    lowest, highest = properties.get("minCount"), properties.get("maxCount")
    if not properties.get("enableAutoScaling"):
        if lowest is not None or highest is not None:
            raise invalid("minCount and maxCount require enableAutoScaling.", "properties.minCount")
        return
    if lowest is None or highest is None or lowest > highest:
        raise invalid(
            "enableAutoScaling requires minCount and maxCount, minCount at most maxCount.", "properties.minCount"
        )


def _check_upgrade_settings(properties: dict[str, Any]) -> None:
    settings = properties.get("upgradeSettings", {})
    for key, (lowest, highest) in _RANGES.items():
        value = settings.get(key)
        if value is not None and not lowest <= value <= highest:
            raise invalid(
                f"upgradeSettings.{key} is {value}, it must be between {lowest} and {highest}.",
                f"properties.upgradeSettings.{key}",
            )
    surge, unavailable = (_amount(settings, key) for key in ("maxSurge", "maxUnavailable"))
    if surge == 0 and unavailable == 0:
        raise invalid(
            "maxSurge must be greater than 0 when maxUnavailable is 0.", "properties.upgradeSettings.maxSurge"
        )
    if unavailable and properties["mode"] == "System":
        raise invalid(
            "maxUnavailable is not supported on system node pools.", "properties.upgradeSettings.maxUnavailable"
        )
    if settings.get("maxBlockedNodes") is not None and _amount(settings, "maxBlockedNodes") < surge:
        raise invalid(
            "maxBlockedNodes must be greater than or equal to maxSurge.", "properties.upgradeSettings.maxBlockedNodes"
        )


def _amount(settings: dict[str, Any], key: str) -> int:
    text = settings.get(key, "0")
    if not _AMOUNT.fullmatch(text) or (text.endswith("%") and int(text[:-1]) > 100):
        raise invalid(
            f"upgradeSettings.{key} is {text!r}, it must be a number of nodes or a percentage up to 100%.",
            f"properties.upgradeSettings.{key}",
        )
    return int(text.removesuffix("%"))


def check_immutable(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise ArmError when a property that is fixed at creation would change."""
    for path in _IMMUTABLE:
        if _at(old, path) != _at(new, path):
            raise property_change(f"properties.{path}")


def property_change(path: str) -> ArmError:
    """Return the refusal to change a property that is fixed at creation."""
    return ArmError(400, "PropertyChangeNotAllowed", f"Changing property '{path}' is not allowed.", target=path)


def _at(properties: dict[str, Any], path: str) -> Any:  # noqa: ANN401 - JSON
    value: Any = properties
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value.lower() if path == "vmSize" and isinstance(value, str) else value
