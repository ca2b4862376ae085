"""Which api-versions exist, and from which one on a field exists."""

import re
from typing import Any

from twin.arm.errors import ArmError

# Microsoft.ContainerService: the list in the reference of azure-native's AgentPool, and the releases of
# azure-mgmt-containerservice after it (41.6.0 to 41.9.0b1). Older ones than 2023 are not offered here.
# Month numbers of the releases in a year.
_STABLE = {2023: range(1, 12), 2024: (1, 2, 5, 7, 8, 9, 10), 2025: (1, 2, 3, 4, 5, 7, 8, 9, 10), 2026: range(1, 9)}
_PREVIEW = {2023: range(1, 12), 2024: (1, 2, 3, 4, 5, 6, 7, 9, 10), 2025: range(1, 11), 2026: range(1, 9)}
CONTAINER_SERVICE = tuple(
    sorted(
        [f"{year}-{month:02}-01" for year, months in _STABLE.items() for month in months]
        + [f"{year}-{month:02}-02-preview" for year, months in _PREVIEW.items() for month in months]
    )
)
NEWEST = "2026-08-02-preview"

NEVER = "9999"
"""No api-version of that kind has the field."""

FIELDS: dict[str, tuple[str, str]] = {
    # path below a pool's properties: (first preview, first stable)
    "gpuProfile.nvidia": ("2026-01-02-preview", "2026-08-01"),
    "gpuProfile.nvidia.managementMode": ("2026-01-02-preview", "2026-08-01"),
    "gpuProfile.nvidia.migStrategy": ("2026-01-02-preview", NEVER),
    "gpuProfile.nvidia.driverMode": ("2026-06-02-preview", NEVER),
    "gpuProfile.nvidia.migProfiles": ("2026-07-02-preview", NEVER),
    "gpuProfile.driverType": ("2023-01-02-preview", NEVER),
    "upgradeSettings.maxBlockedNodes": ("2023-01-02-preview", NEVER),
    "upgradeStrategy": ("2025-08-02-preview", NEVER),
    "upgradeSettingsBlueGreen": ("2025-08-02-preview", NEVER),
}
"""Fields of an agent pool that not every api-version has; a field that isn't listed is in all of them."""

_DATE = re.compile(r"20\d\d-\d\d-\d\d(-preview)?")


def has_field(path: str, api_version: str) -> bool:
    """Say whether the pool field at `path` (below `properties`) exists in this api-version."""
    preview, stable = FIELDS.get(path, ("", ""))
    return api_version >= (preview if api_version.endswith("-preview") else stable)


def without_newer_fields(properties: dict[str, Any], api_version: str) -> dict[str, Any]:
    """Return a pool's properties as a client of this api-version sees them."""
    return _visible(properties, "", api_version)


def _visible(value: dict[str, Any], prefix: str, api_version: str) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, item in value.items():
        path = f"{prefix}{key}"
        if not has_field(path, api_version):
            continue
        seen[key] = _visible(item, f"{path}.", api_version) if isinstance(item, dict) else item
    return seen


def check(namespace: str, resource_type: str, location: str, api_version: str | None) -> str:
    """Return the api-version of a request; raises ArmError when it is missing or doesn't exist."""
    if not api_version:
        raise ArmError(
            400,
            "MissingApiVersionParameter",
            "The api-version query parameter (?api-version=) is required for all requests.",
        )
    version = api_version.lower()
    if namespace == "Microsoft.ContainerService":
        if version not in CONTAINER_SERVICE:
            raise ArmError(
                400,
                "NoRegisteredProviderFound",
                f"No registered resource provider found for location '{location}' and API version "
                f"'{api_version}' for type '{resource_type}'. The supported api-versions are "
                f"'{', '.join(CONTAINER_SERVICE)}'.",
            )
    elif not _DATE.fullmatch(version):
        raise ArmError(
            400,
            "InvalidApiVersionParameter",
            f"The api-version '{api_version}' is invalid. It must look like 2025-04-01.",
        )
    return version
