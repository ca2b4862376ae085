"""What a request body may hold, taken from the models of azure-mgmt-containerservice.

Azure publishes no machine-readable answer to "what does the service do with a field it doesn't know". The
twin refuses it, because silence there is what turns a DRA pool into a device-plugin pool.
"""

import types
import typing
from enum import Enum
from functools import cache
from typing import Any

from azure.mgmt.containerservice import models

from twin.arm.api_versions import has_field
from twin.arm.errors import ArmError

AGENT_POOL: type = models.AgentPool
POOL_PROPERTIES: type = models.AgentPoolManagedClusterAgentPoolProfileProperties
POOL_PROFILE: type = models.ManagedClusterAgentPoolProfile
MANAGED_CLUSTER: type = models.ManagedCluster
CLUSTER_PROPERTIES: type = models.ManagedClusterProperties
TAGS: type = models.TagsObject

_ENVELOPE = frozenset({"location", "tags", "kind", "plan", "sku", "identity", "managedBy", "extendedLocation", "zones"})
"""What every ARM request may carry around the properties. Azure Resource Manager reads it; a child resource ignores
it. azure-native's generic resource always sends a location."""


@cache
def fields(model: type) -> dict[str, Any]:
    """Return the fields of a model, REST name to type."""
    declared: dict[str, Any] = {}
    for cls in reversed(model.__mro__):
        declared |= {name: value for name, value in vars(cls).items() if type(value).__name__ == "_RestField"}
    hints = typing.get_type_hints(model, localns={"_models": models})
    return {field._rest_name_input or name: hints[name] for name, field in declared.items()}


def is_model(kind: Any) -> bool:  # noqa: ANN401 - a type annotation of any shape
    """Say whether an annotation is one of the SDK's models."""
    return isinstance(kind, type) and hasattr(kind, "_is_model")


def plain(kind: Any) -> Any:  # noqa: ANN401
    """Return the annotation without `None`, and an enumeration instead of `str | enumeration`."""
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return kind
    members = [member for member in typing.get_args(kind) if member is not type(None)]
    enums = [member for member in members if isinstance(member, type) and issubclass(member, Enum)]
    return enums[0] if enums else members[0]


def read(model: type, body: Any, api_version: str) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Check a request body and return it with the service's own spelling of keys and values.

    Keys and enumeration values are accepted in any case, null and an absent key mean the same. Raises
    ArmError (400) for a field that `api_version` doesn't have, a value of the wrong type, or an unknown
    enumeration value.
    """
    return _object(model, body, "", api_version)


def _object(model: type, body: Any, path: str, api_version: str) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(body, dict):
        raise _bad(path or "the request body", "an object", body)
    known = {name.lower(): (name, kind) for name, kind in fields(model).items()}
    result: dict[str, Any] = {}
    for key, value in body.items():
        name, kind = known.get(key.lower(), (key, None))
        here = f"{path}.{name}" if path else name
        if kind is None and not path and name in _ENVELOPE:
            continue
        if kind is None:
            raise _unknown(here, model.__name__, api_version)
        if value is not None:
            result[name] = _value(plain(kind), value, here, api_version)
    if model in (POOL_PROPERTIES, POOL_PROFILE):
        _refuse_newer_fields(result, "", path, api_version)
    return result


def _value(kind: Any, value: Any, path: str, api_version: str) -> Any:  # noqa: ANN401
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if is_model(kind):
        return _object(kind, value, path, api_version)
    if origin is list:
        if not isinstance(value, list):
            raise _bad(path, "a list", value)
        inner = plain(arguments[0])
        return [_value(inner, item, f"{path}[{at}]", api_version) for at, item in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            raise _bad(path, "an object", value)
        inner = plain(arguments[1])
        return {key: _value(inner, item, f"{path}.{key}", api_version) for key, item in value.items()}
    return _scalar(kind, value, path)


def _refuse_newer_fields(pool: dict[str, Any], prefix: str, path: str, api_version: str) -> None:
    for key, value in pool.items():
        if not has_field(f"{prefix}{key}", api_version):
            raise _unknown(f"{path}.{prefix}{key}", "AgentPool", api_version)
        if isinstance(value, dict):
            _refuse_newer_fields(value, f"{prefix}{key}.", path, api_version)


def _unknown(path: str, model: str, api_version: str) -> ArmError:
    return ArmError(
        400,
        "InvalidRequestContent",
        f"The request content was invalid and could not be deserialized: 'Could not find member "
        f"'{path.rpartition('.')[2]}' on object of type '{model}'. Path '{path}'.' The api-version "
        f"'{api_version}' has no such field.",
        target=path,
    )


def _scalar(kind: Any, value: Any, path: str) -> Any:  # noqa: ANN401
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member(kind, value, path)
    if kind is bool and not isinstance(value, bool):
        raise _bad(path, "true or false", value)
    if kind is str and not isinstance(value, str):
        raise _bad(path, "a string", value)
    if kind in (int, float):
        return _number(kind, value, path)
    return value


def _number(kind: type, value: Any, path: str) -> float:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _bad(path, "a number", value)
    if kind is float:
        return value
    if value != int(value):
        raise _bad(path, "a whole number", value)
    return int(value)


def _member(kind: type[Enum], value: Any, path: str) -> str:  # noqa: ANN401
    values = [member.value for member in kind]
    for allowed in values:
        if isinstance(value, str) and value.lower() == allowed.lower():
            return allowed
    raise ArmError(
        400,
        "InvalidParameter",
        f"The value of parameter {path} is invalid. Error details: '{value}' is not one of "
        f"{', '.join(values)}. Please see https://aka.ms/aks-naming-rules for more details.",
        target=path,
    )


def _bad(path: str, wanted: str, value: Any) -> ArmError:  # noqa: ANN401
    return ArmError(
        400,
        "InvalidRequestContent",
        f"The request content was invalid and could not be deserialized: {path} must be {wanted}, "
        f"not {type(value).__name__}.",
        target=path,
    )


def merge(model: type, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return `old` with what `new` says; what it doesn't say stays, maps and lists are replaced whole."""
    merged = dict(old)
    known = fields(model)
    for key, value in new.items():
        kind = plain(known[key])
        if is_model(kind) and isinstance(value, dict) and isinstance(old.get(key), dict):
            merged[key] = merge(kind, old[key], value)
        else:
            merged[key] = value
    return merged
