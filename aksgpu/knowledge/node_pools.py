"""Limits and vocabulary of AKS node pools.

Sources: the enums of azure-mgmt-containerservice 41.9.0b1; learn.microsoft.com/azure/aks: "Create node pools" (names),
"Use dynamic resource allocation for NVIDIA GPUs" (operating systems), "AKS-managed GPU node pools".
"""

import re
from datetime import date
from typing import Final

AS_OF: Final = date(2026, 11, 30)

NAME_LIMIT: Final = {"linux": 12, "windows": 6}

GPU_DRIVERS: Final = ("Install", "None")
MANAGEMENT_MODES: Final = ("Unmanaged", "Managed")
DRIVER_MODES: Final = ("DevicePlugin", "DRA")
MIG_STRATEGIES: Final = ("None", "Single", "Mixed")
OS_TYPES: Final = ("Linux", "Windows")
POOL_MODES: Final = ("System", "User", "Gateway", "ManagedSystem", "Machines")
NODE_PROVISIONING_MODES: Final = ("Manual", "Auto")

MANAGED_GPU_REFUSED_OS_SKUS: Final = ("Flatcar", "AzureLinuxOSGuard")
"""OS SKUs that AKS doesn't support with NVIDIA GPUs at all."""
DRA_REFUSED_OS_SKUS: Final = ("AzureContainerLinux", *MANAGED_GPU_REFUSED_OS_SKUS)

MIG_PROFILES: Final = ("MIG1g", "MIG2g", "MIG3g", "MIG4g", "MIG7g")
PRIORITIES: Final = ("Regular", "Spot")

DEVICE_PLUGIN_TAG: Final = "EnableManagedGPUExperience"
"""VM tag that makes a node start the managed device plugin whatever the pool's driver mode says."""

_NAME = re.compile(r"[a-z][a-z0-9]*")


def name_problem(name: str, *, windows: bool = False) -> str | None:
    """Say what is wrong with a pool's name, as the end of "the name … "; None when nothing is."""
    limit = NAME_LIMIT["windows" if windows else "linux"]
    if len(name) > limit:
        return f"has {len(name)} characters, and AKS allows {limit}"
    if not _NAME.fullmatch(name):
        return "isn't made of lower-case letters and digits that start with a letter"
    return None
