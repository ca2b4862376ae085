"""What Check fills in: a missing name, a missing location, the API version."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from twin.azure_native.catalog import CREATE_BEFORE_DELETE, Resource
from twin.azure_native.shapes import Shape
from twin.azure_native.values import UNKNOWN, Values, has_unknowns

_SUFFIX = 8


@dataclass(frozen=True)
class Naming:
    """How the engine wants a missing name to be made (`pulumi:autonaming` in the stack's configuration)."""

    logical_name: str
    seed: bytes = b""
    """Makes the random part repeatable within one deployment; empty for a random one."""
    mode: Literal["provider", "propose", "enforce", "disable"] = "provider"
    proposed: str = ""


def fill_name(resource: Resource, olds: Values, news: Values, naming: Naming) -> None:
    """Set the name in `news` when it is missing, keeping the one made up before."""
    key = resource.name_parameter
    if key in news:
        return
    if key in olds:
        news[key] = olds[key]
        random = olds.get(CREATE_BEFORE_DELETE) is True
    else:
        made = _make(resource, naming)
        if made is None:
            return
        news[key], random = made
    if random:
        news[CREATE_BEFORE_DELETE] = True


def _make(resource: Resource, naming: Naming) -> tuple[str, bool] | None:
    if naming.mode == "disable":
        return None
    if naming.mode in ("enforce", "propose"):
        return naming.proposed, True
    if resource.auto_name == "copy":
        return naming.logical_name, False
    return naming.logical_name + _random_hex(naming.seed), True


def _random_hex(seed: bytes) -> str:
    return hashlib.sha256(seed).hexdigest()[:_SUFFIX] if seed else secrets.token_hex(_SUFFIX // 2)


def fill_location(
    shape: Shape, olds: Values, news: Values, configured: str | None, group_location: Callable[[str], str | None]
) -> None:
    """Set the location in `news` when the resource has one and the program gave none.

    Taken from the former inputs, else the provider's configuration, else the resource group (which may not be
    known yet: then neither is the location).
    """
    if "location" in news or "location" not in shape.inputs:
        return
    group = news.get("resourceGroupName")
    location = olds.get("location") or configured
    if location is None and group is not None:
        location = UNKNOWN if has_unknowns(group) else group_location(str(group))
    if location is not None:
        news["location"] = location
