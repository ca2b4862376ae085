"""Resource and function tokens of the package and of its parameterised forms.

Three spellings name the same thing:
`azure-native:containerservice:AgentPool` (default API version of the SDK),
`azure-native:containerservice/v20260502preview:AgentPool` (a fixed one), and
`azure-native_containerservice_v20260502preview:containerservice:AgentPool` (a package made by
`pulumi package add`; its early form also repeats the version behind the module).
"""

import re
from dataclasses import dataclass

from twin.errors import TwinError

_TOKEN = re.compile(
    r"azure-native(?:_(?P<package_module>[a-z0-9]+)_(?P<package_version>v\d{8}\w*))?"
    r":(?P<module>\w+)(?:/(?P<version>v\d{8}\w*))?:(?P<name>\w+)"
)
_VERSION = re.compile(r"v(\d{4})(\d{2})(\d{2})(\w*)")


@dataclass(frozen=True)
class Token:
    """What a token names."""

    module: str
    """Lower case, e.g. `containerservice`."""
    name: str
    """E.g. `AgentPool` or `getManagedCluster`."""
    version: str | None
    """API version such as `2026-05-02-preview`; None is the SDK's default."""

    @property
    def kind(self) -> str:
        """The token without package and version, e.g. `containerservice:AgentPool`."""
        return f"{self.module}:{self.name}"


def parse(token: str) -> Token:
    """Split a token; raises TwinError when it is none of this package."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise TwinError(f"'{token}' is not a type or function of the package azure-native.")
    version = match["version"] or match["package_version"]
    return Token(match["module"].lower(), match["name"], api_version(version) if version else None)


def api_version(sdk_version: str) -> str:
    """Turn `v20260502preview` into `2026-05-02-preview`."""
    match = _VERSION.fullmatch(sdk_version)
    if match is None:
        raise TwinError(f"invalid API version: {sdk_version}")
    year, month, day, stage = match.groups()
    return f"{year}-{month}-{day}" + (f"-{stage}" if stage else "")


def sdk_version(version: str) -> str:
    """Turn `2026-05-02-preview` into `v20260502preview`."""
    return "v" + version.replace("-", "")


def type_of_urn(urn: str) -> str:
    """Return the resource's own type from its URN (`urn:pulumi:STACK::PROJECT::PARENTS$TYPE::NAME`)."""
    return urn.split("::", 3)[2].rpartition("$")[2]


def name_of_urn(urn: str) -> str:
    """Return the resource's logical name from its URN."""
    return urn.split("::", 3)[3]
