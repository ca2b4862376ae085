"""Packages for one API version, as `pulumi package add azure-native MODULE VERSION` makes them."""

import base64
import binascii
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from twin.azure_native.metadata import Metadata
from twin.azure_native.tokens import sdk_version
from twin.errors import TwinError

_DASHED = re.compile(r"20\d{2}-[01]\d-[0-3]\d(-preview|-privatepreview)?")
_DIGITS = re.compile(r"20\d{6}(preview|privatepreview)?")


@dataclass(frozen=True)
class Parameter:
    """The module and the API version of a package."""

    module: str
    version: str
    """E.g. `v20260502preview`."""

    @property
    def package(self) -> str:
        """The package's name."""
        return f"azure-native_{self.module}_{self.version}"


def from_arguments(arguments: Sequence[str]) -> Parameter:
    """Read the arguments of `pulumi package add`."""
    if len(arguments) != 2:
        raise TwinError(f"expected 2 arguments (module and API version), got {len(arguments)}")
    module, written = arguments
    version = written.strip().lstrip("vV")
    if _DASHED.fullmatch(version):
        return Parameter(module, sdk_version(version))
    if _DIGITS.fullmatch(version):
        return Parameter(module, f"v{version}")
    raise TwinError(f"invalid API version: {written}")


def from_value(value: bytes) -> Parameter:
    """Read the value that a generated SDK holds: base64 of JSON with `module` and `version`."""
    try:
        data = json.loads(base64.b64decode(value, validate=True))
        return Parameter(str(data["module"]), str(data["version"]))
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        raise TwinError(f"failed to deserialize parameterize args: {error}") from error


def check(parameter: Parameter, metadata: Metadata) -> None:
    """Raise TwinError when there is no such module or API version."""
    versions = [sdk_version(version) for version in metadata.versions(parameter.module.lower())]
    if not versions:
        raise TwinError(
            f"module {parameter.module} not found. Some modules were renamed in v3 of the provider; please see "
            "https://www.pulumi.com/registry/packages/azure-native/from-v2-to-v3/#new-module-structure-and-naming-"
            "aligned-closer-to-azure-sdks."
        )
    if parameter.version not in versions:
        raise TwinError(
            f"no resources found for module {parameter.module} at API version {parameter.version}. Available API "
            f"versions: {', '.join(versions)}"
        )
