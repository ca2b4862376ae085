"""The kinds of node pool of this project, and the GPU profile that each fixes.

A kind decides driver, management mode and driver mode together, so that a contradiction between them can't be
written down.
"""

from typing import Final, Literal, NamedTuple

PoolKind = Literal["managed-dra", "managed-device-plugin", "driver-only", "operator-managed", "cpu"]


class GpuProfile(NamedTuple):
    """`gpuProfile` of a node pool, in the spelling of the REST API."""

    driver: Literal["Install", "None"]
    management_mode: Literal["Managed", "Unmanaged"]
    driver_mode: Literal["DRA", "DevicePlugin"] | None
    """None on unmanaged pools, which have no such choice."""


GPU_PROFILES: Final[dict[PoolKind, GpuProfile | None]] = {
    "managed-dra": GpuProfile("Install", "Managed", "DRA"),
    "managed-device-plugin": GpuProfile("Install", "Managed", "DevicePlugin"),
    "driver-only": GpuProfile("Install", "Unmanaged", None),
    "operator-managed": GpuProfile("None", "Unmanaged", None),
    "cpu": None,
}
