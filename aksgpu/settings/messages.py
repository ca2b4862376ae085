"""Turns what pydantic says about a wrong configuration into a paragraph for a person."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from aksgpu.facts.base import shown
from aksgpu.settings.model import Settings
from aksgpu.settings.parts import PROJECT, Doc

_PATTERNS = {
    "resourceGroup": "1 to 90 letters, digits, dashes, underscores, dots or parentheses, not ending with a dot",
    "location": "a region's short name in lower case, e.g. eastus",
    "kubernetesVersion": 'a version in quotes such as "1.35" or "1.35.4"',
    "vmSize": "a VM size such as Standard_NC24ads_A100_v4",
    "taints": "a taint such as sku=gpu:NoSchedule",
    "zones": 'the number of a zone in quotes, such as "1"',
    "maxSurge": 'a number or a percentage in quotes, such as "1" or "33%"',
    "maxUnavailable": 'a number or a percentage in quotes, such as "1" or "33%"',
    "podCidr": "a range such as 10.244.0.0/16",
    "serviceCidr": "a range such as 10.0.0.0/16",
    "authorizedIpRanges": "a range such as 203.0.113.0/24",
    "dnsServiceIp": "an address such as 10.0.0.10",
    "identityId": "an ARM id: /subscriptions/…/resourceGroups/…/providers/…",
    "subnetId": "an ARM id: /subscriptions/…/resourceGroups/…/providers/…",
    "capacityReservationGroupId": "an ARM id: /subscriptions/…/resourceGroups/…/providers/…",
    "proximityPlacementGroupId": "an ARM id: /subscriptions/…/resourceGroups/…/providers/…",
    "selectors": "a CEL expression that isn't empty",
    "cluster.name": "1 to 63 letters, digits, dashes or underscores, starting and ending with a letter or digit",
}
_DNS = "lower-case letters, digits and dashes, starting and ending with a letter or digit, as Kubernetes names are"
_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a group of keys",
    "model_type": "a group of keys",
    "model_attributes_type": "a group of keys",
}


def path(location: Sequence[str | int]) -> str:
    """Write a place in the configuration as `aksgpu:pools[0].vmSize`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"{PROJECT}:{text}"


def did_you_mean(given: str, known: Sequence[str]) -> str:
    """Return " Did you mean …?", or nothing when nothing is near."""
    lowered = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(given.casefold(), list(lowered), n=1, cutoff=0.6)
    return f" Did you mean {lowered[near[0]]}?" if near else ""


def paragraph(detail: ErrorDetails) -> str:
    """Return one paragraph about one mistake."""
    where = path(detail["loc"])
    kind = detail["type"]
    given = detail["input"]
    if kind == "missing":
        return f"{where} is missing: {_description(detail['loc'])}."
    if kind == "extra_forbidden":
        return _unknown_key(detail["loc"])
    if kind in _TYPES:
        return (
            f"{where} is {shown(given)}, which is {_kind_of(given)}; it has to be {_TYPES[kind]}.{_quote_hint(detail)}"
        )
    return f"{where} is {shown(given)}; {_expectation(detail)}"


def _expectation(detail: ErrorDetails) -> str:
    context: Mapping[str, Any] = detail.get("ctx", {})
    match detail["type"]:
        case "literal_error":
            allowed = _allowed(detail["loc"])
            return f"allowed: {', '.join(allowed)}.{did_you_mean(str(detail['input']), allowed)}"
        case "greater_than_equal":
            return f"it has to be {context['ge']} or more."
        case "less_than_equal":
            return f"it has to be {context['le']} or less."
        case "string_pattern_mismatch":
            return f"it has to be {_pattern(detail['loc'])}."
    return f"{detail['msg']}."


def _unknown_key(location: Sequence[str | int]) -> str:
    known = _keys(_model_at(location[:-1]))
    name = str(location[-1])
    return f"{path(location)} is not a key.{did_you_mean(name, known)} Keys here: {', '.join(known)}."


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "a switch"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
    return "a group of keys"


def _quote_hint(detail: ErrorDetails) -> str:
    if detail["type"] == "string_type" and isinstance(detail["input"], int | float):
        return " Put it in quotes: YAML reads 1.40 without quotes as the number 1.4."
    return ""


def _pattern(location: Sequence[str | int]) -> str:
    names = [part for part in location if isinstance(part, str)]
    last = "cluster.name" if names[0] == "cluster" and names[-1] == "name" else names[-1]
    return _PATTERNS.get(last, _DNS)


def _description(location: Sequence[str | int]) -> str:
    field = _field(location)
    return f"it is the {doc(field).text}" if field is not None else "it has no default"


def doc(field: FieldInfo) -> Doc:
    """Return what the model says about a key."""
    return next(item for item in field.metadata if isinstance(item, Doc))


def _allowed(location: Sequence[str | int]) -> list[str]:
    field = _field(location)
    return [str(value) for value in get_args(field.annotation)] if field is not None else []


def _field(location: Sequence[str | int]) -> FieldInfo | None:
    model = _model_at(location[:-1])
    return next((field for field in model.model_fields.values() if field.alias == location[-1]), None)


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_at(location: Sequence[str | int]) -> type[BaseModel]:
    """Return the model that holds the keys at a place in the configuration."""
    model: type[BaseModel] = Settings
    for part in location:
        field = next((field for field in model.model_fields.values() if field.alias == part), None)
        if field is not None:
            model = model_in(field.annotation) or model
    return model


def model_in(annotation: object) -> type[BaseModel] | None:
    """Return the model inside `X`, `X | None` or `list[X]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := model_in(part)) is not None), None)
