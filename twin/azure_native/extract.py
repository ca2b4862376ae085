"""Writes down what the Python SDKs know about the fields of each resource.

The real provider carries metadata generated from Azure's REST specifications. Its fields at the default API
version are exactly those of the Args and Response classes of the Python SDK, which is generated from the same
source. Other versions of Microsoft.ContainerService come from the models of azure-mgmt-containerservice,
which know the newest fields, less those that the version doesn't have yet.

Importing both SDKs takes seconds, so the plugin reads the result from a file (see metadata).
"""

import importlib
import inspect
import re
import typing
from collections.abc import Awaitable, Mapping, Sequence
from enum import Enum
from types import ModuleType
from typing import Any

import pulumi
from azure.mgmt.containerservice import models
from pulumi import _types as sdk_types

from twin.arm import api_versions, schema
from twin.azure_native.catalog import FUNCTIONS, RESOURCES

Annotation = Any
"""A type annotation of any shape."""
Parsed = Any
"""The type of a field as Field.parse reads it."""
Types = dict[str, Any]
"""Object types found so far, key to fields and required; filled by the functions below."""

_VERSIONS = re.compile(r"\d{4}-\d{2}-\d{2}(?:-preview|-privatepreview)?")
_PYTHON_KINDS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_MODELS = {
    "containerservice:ManagedCluster": models.ManagedCluster,
    "containerservice:AgentPool": models.AgentPool,
}


def extract() -> dict[str, Any]:
    """Return the metadata, in the form `metadata` reads."""
    types: Types = {}
    kinds: dict[str, Any] = {}
    for kind, resource in RESOURCES.items():
        module_name, name = kind.split(":")
        module = importlib.import_module(f"pulumi_azure_native.{module_name}")
        kinds[kind] = _sdk_resource(module, name, resource.outside_body, types)
        if kind in _MODELS:
            kinds[kind]["containers"] = sorted(_lifted(_MODELS[kind]))
    return {
        "types": types,
        "resources": kinds,
        "functions": {kind: _sdk_function(kind, types) for kind, known in FUNCTIONS.items() if known.action},
        "models": _model_resources(types),
        "since": _since(),
    }


# --- the Pulumi SDK: the default version of every resource ---


def _sdk_resource(module: ModuleType, name: str, outside: tuple[str, ...], types: Types) -> dict[str, Any]:
    arguments = getattr(module, f"{name}Args")
    inputs = _fields(sdk_types.input_type_types(arguments), types, "in")
    required = _required(arguments)
    outputs = _fields(sdk_types.resource_types(getattr(module, name)), types, "out")
    about = inspect.getsource(getattr(module, name))
    used, _, others = about.partition("Other available API versions:")
    default = _VERSIONS.findall(used.partition("Uses Azure REST API version")[2])[0]
    listed = _VERSIONS.findall(others.partition("\n")[0])
    return {
        "apiVersion": default,
        "versions": sorted({default, *listed}),
        "inputs": {key: value for key, value in inputs.items() if key not in outside},
        "required": sorted(required - set(outside)),
        "outputs": {key: value for key, value in outputs.items() if key != "azureApiVersion"},
        "containers": [],
    }


def _sdk_function(kind: str, types: Types) -> dict[str, Any]:
    module_name, name = kind.split(":")
    module = importlib.import_module(f"pulumi_azure_native.{module_name}")
    result = getattr(module, name[0].upper() + name[1:] + "Result")
    return _fields(sdk_types.output_type_types(result), types, "out")


def _fields(annotations: Mapping[str, Any], types: Types, family: str) -> dict[str, Any]:
    return {name: _sdk_field(annotation, types, family) for name, annotation in annotations.items()}


def _sdk_field(annotation: Annotation, types: Types, family: str) -> Parsed:
    core = _core(annotation)
    origin = typing.get_origin(core)
    if origin in (Sequence, list):
        return {"array": _sdk_field(typing.get_args(core)[0], types, family)}
    if origin in (Mapping, dict):
        return {"map": _sdk_field(typing.get_args(core)[1], types, family)}
    if core is Any:
        return "any"
    if issubclass(core, Enum):
        return "string"
    return _PYTHON_KINDS.get(core) or {"object": _sdk_object(core, types, family)}


def _core(annotation: Annotation) -> Annotation:
    """Take the plain type out of `Union[T, Awaitable[T], Output[T], None]`."""
    members = typing.get_args(annotation) if typing.get_origin(annotation) is typing.Union else (annotation,)
    plain = [
        member
        for member in members
        if member is not type(None) and typing.get_origin(member) not in (Awaitable, pulumi.Output)
    ]
    return _core(plain[0]) if typing.get_origin(plain[0]) is typing.Union else plain[0]


def _sdk_object(cls: type, types: Types, family: str) -> str:
    package = cls.__module__.split(".")[1]
    key = f"{family}:{package}:{cls.__name__.removesuffix('Args').removesuffix('Response')}"
    if key not in types:
        types[key] = {}  # a type may hold itself
        annotations = sdk_types.input_type_types(cls) if family == "in" else sdk_types.output_type_types(cls)
        required = _required(cls) if family == "in" else set()
        types[key] = {"fields": _fields(annotations, types, family), "required": sorted(required)}
    return key


def _required(cls: type) -> set[str]:
    names = sdk_types.input_type_py_to_pulumi_names(cls)
    parameters = inspect.signature(cls).parameters.values()
    return {names.get(item.name, item.name) for item in parameters if item.default is inspect.Parameter.empty}


# --- azure-mgmt-containerservice: every other version ---


def _model_resources(types: Types) -> dict[str, Any]:
    return {
        kind: {
            "owner": schema.plain(schema.fields(model)["properties"]).__name__,
            "inputs": _model_fields(model, types, "in", lifted=True),
            "outputs": _model_fields(model, types, "out", lifted=True),
        }
        for kind, model in _MODELS.items()
    }


def _lifted(model: type) -> dict[str, Any]:
    return schema.fields(schema.plain(schema.fields(model)["properties"]))


def _model_fields(model: type, types: Types, family: str, *, lifted: bool = False) -> dict[str, Any]:
    fields = _visible(model, family)
    if lifted:
        inner = schema.plain(fields.pop("properties"))
        fields |= _visible(inner, family)
    return {name: _model_field(kind, types, family) for name, kind in fields.items()}


def _visible(model: type, family: str) -> dict[str, Any]:
    fields = dict(schema.fields(model))
    if family == "out":
        return fields
    read_only = {
        member._rest_name_input or name
        for cls in model.__mro__
        for name, member in vars(cls).items()
        if type(member).__name__ == "_RestField" and member._visibility == ["read"]
    }
    return {name: kind for name, kind in fields.items() if name not in read_only}


def _model_field(annotation: Annotation, types: Types, family: str) -> Parsed:
    kind = schema.plain(annotation)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return {"array": _model_field(arguments[0], types, family)}
    if origin is dict:
        return {"map": _model_field(arguments[1], types, family)}
    if schema.is_model(kind):
        return {"object": _model_object(kind, types, family)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "string"
    return _PYTHON_KINDS.get(kind, "any" if kind is Any else "string")


def _model_object(model: type, types: Types, family: str) -> str:
    key = f"{family}:models:{model.__name__}"
    if key not in types:
        types[key] = {}
        required = types.get(f"{family}:containerservice:{model.__name__}", {}).get("required", [])
        types[key] = {"fields": _model_fields(model, types, family), "required": required}
    return key


def _since() -> dict[str, Any]:
    """Return model name -> field -> [first preview, first stable], for fields not every version has."""
    owners: dict[str, dict[str, tuple[str, str]]] = {}
    for path, versions in api_versions.FIELDS.items():
        for start in (schema.POOL_PROPERTIES, schema.POOL_PROFILE):
            owner: Any = start
            *parents, last = path.split(".")
            for name in parents:
                owner = schema.plain(schema.fields(owner)[name])
            owners.setdefault(owner.__name__, {})[last] = versions
    return owners
