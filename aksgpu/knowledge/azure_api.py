"""Which GPU fields of a node pool each api-version of Microsoft.ContainerService has.

Source: the models of azure-mgmt-containerservice 41.0.0b3 to 41.9.0b1 (`NvidiaGPUProfile`), and the AKS change log.
"""

import re
from datetime import date
from typing import Final, NamedTuple

AS_OF: Final = date(2026, 11, 30)

MANAGED_DRA_API_VERSION: Final = "2026-08-02-preview"
"""What this project writes managed DRA pools with: the newest version known to have every field it uses."""

TYPED_DEFAULT_API_VERSION: Final = "2025-09-01"
"""What the plain typed resources of pulumi-azure-native 3.26 to 3.30 send."""

FIELD_PATHS: Final = {
    "managementMode": "gpuProfile.nvidia.managementMode",
    "driverMode": "gpuProfile.nvidia.driverMode",
    "migStrategy": "gpuProfile.nvidia.migStrategy",
    "migProfiles": "gpuProfile.nvidia.migProfiles",
}

_FIRST_PREVIEW: Final = {
    "managementMode": date(2026, 1, 2),
    "migStrategy": date(2026, 1, 2),
    "driverMode": date(2026, 6, 2),
    "migProfiles": date(2026, 7, 2),
}
_FIRST_STABLE: Final = {"managementMode": date(2026, 8, 1)}
_NEWEST_STABLE: Final = date(2026, 8, 1)

_VERSION = re.compile(r"(\d{4})-(\d\d)-(\d\d)(-preview)?", re.IGNORECASE)


class ApiVersion(NamedTuple):
    """An Azure api-version; previews and stable versions have their own lines of features."""

    day: date
    preview: bool


def parse(text: str) -> ApiVersion | None:
    """Read `2026-08-02-preview`; None when it isn't an api-version."""
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        return None
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    return ApiVersion(day, match[4] is not None)


def has_field(api_version: str, field: str) -> bool | None:
    """Tell whether `api_version` has a field of `FIELD_PATHS`.

    None: nobody can tell yet. That is so for text that isn't an api-version, and for stable versions newer than this
    table, which may have gained the field. Previews keep the fields that an earlier preview had.
    """
    version = parse(api_version)
    if version is None:
        return None
    if version.preview:
        return version.day >= _FIRST_PREVIEW[field]
    if field in _FIRST_STABLE:
        return version.day >= _FIRST_STABLE[field]
    return None if version.day > _NEWEST_STABLE else False
