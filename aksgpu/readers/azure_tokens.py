"""Recognises the Pulumi types of azure-native: plain, with an api-version in the module, and parameterised packages."""

import re
from typing import Literal, NamedTuple

from aksgpu.knowledge.azure_api import TYPED_DEFAULT_API_VERSION

_TOKEN = re.compile(
    r"azure-native(?:_(?P<package>\w+?)_(?P<parameter>v\d{8}\w*))?:"
    r"(?P<module>\w+)(?:/(?P<version>v\d{8}\w*))?:(?P<kind>\w+)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"v(\d{4})(\d\d)(\d\d)(\w*)", re.IGNORECASE)


class AzureToken(NamedTuple):
    """A type of azure-native, in lower case, and how it was addressed."""

    module: str
    kind: str
    form: Literal["typed", "versioned", "parameterised"]
    api_version: str
    """The one its requests use, e.g. `2026-05-02-preview`."""


def parse_token(token: str) -> AzureToken | None:
    """Take a Pulumi type apart; None when it isn't one of azure-native."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    module, kind = match["module"].casefold(), match["kind"].casefold()
    if match["parameter"]:
        return AzureToken(module, kind, "parameterised", _api_version(match["parameter"]))
    if match["version"]:
        return AzureToken(module, kind, "versioned", _api_version(match["version"]))
    return AzureToken(module, kind, "typed", TYPED_DEFAULT_API_VERSION)


def _api_version(text: str) -> str:
    """Turn `v20260502preview` into `2026-05-02-preview`."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return text
    year, month, day, rest = match.groups()
    return f"{year}-{month}-{day}" + (f"-{rest.casefold()}" if rest else "")
