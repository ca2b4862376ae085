"""The package schema: what the plugin knows, in the form that other languages of Pulumi read.

Needed by YAML programs, by `pulumi package add` and by `pulumi package get-schema`. It holds only the twin's
part of azure-native; names of types are those of the real package.
"""

import base64
import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

from twin.azure_native.catalog import CLIENT_FUNCTIONS, FUNCTIONS, RESOURCES
from twin.azure_native.metadata import Metadata, provider_version
from twin.azure_native.parameterize import Parameter
from twin.azure_native.shapes import Field, ObjectType, Shape, Slot
from twin.azure_native.tokens import Token, api_version

_STRING = {"type": "string"}
_CLIENT_RESULTS = {
    "authorization:getClientConfig": ("clientId", "objectId", "subscriptionId", "tenantId"),
    "authorization:getClientToken": ("token",),
}
_CONFIGURATION = {
    "location": {**_STRING, "description": "Default region of resources."},
    "subscriptionId": {**_STRING, "description": "The subscription to work in."},
}


def package_schema(metadata: Metadata, parameter: Parameter | None) -> str:
    """Return the schema as JSON: of azure-native, or of a package made for one API version."""
    return json.dumps(_Writer(metadata, parameter).write())


class _Writer:
    def __init__(self, metadata: Metadata, parameter: Parameter | None) -> None:
        self._metadata = metadata
        self._parameter = parameter
        self._package = parameter.package if parameter else "azure-native"
        self._types: dict[str, Any] = {}

    def write(self) -> dict[str, Any]:
        schema = {
            "name": self._package,
            "version": provider_version(),
            "description": "The part of azure-native that the twin knows.",
            "config": {"variables": _CONFIGURATION},
            "provider": {"inputProperties": _CONFIGURATION},
            "resources": {f"{self._package}:{kind}": self._resource(kind) for kind in self._kinds(RESOURCES)},
            "functions": {f"{self._package}:{kind}": self._function(kind) for kind in self._kinds(FUNCTIONS)},
            "types": self._types,
        }
        if self._parameter is None:
            schema["functions"] |= {f"azure-native:{kind}": _client_function(kind) for kind in CLIENT_FUNCTIONS}
        else:
            value = json.dumps(dataclasses.asdict(self._parameter), separators=(",", ":"))
            schema["parameterization"] = {
                "baseProvider": {"name": "azure-native", "version": provider_version()},
                # The value itself is base64 text, and JSON writes bytes as base64 once more.
                "parameter": base64.b64encode(base64.b64encode(value.encode())).decode(),
            }
        return schema

    def _kinds(self, known: Iterable[str]) -> list[str]:
        module = self._parameter.module if self._parameter else ""
        return sorted(kind for kind in known if not module or kind.startswith(f"{module}:"))

    def _shape(self, kind: str) -> Shape:
        module, _, name = kind.partition(":")
        version = api_version(self._parameter.version) if self._parameter else None
        return self._metadata.shape(Token(module, name, version), kind)

    def _resource(self, kind: str) -> dict[str, Any]:
        resource, shape = RESOURCES[kind], self._shape(kind)
        inputs = dict.fromkeys(resource.outside_body, _STRING) | self._properties(shape.inputs, shape)
        filled_in = {resource.name_parameter, "location"}
        return {
            "inputProperties": inputs,
            "requiredInputs": sorted({*resource.outside_body, *shape.required} - filled_in),
            "properties": self._properties(shape.outputs, shape) | {"azureApiVersion": _STRING},
            "required": ["azureApiVersion", "name"],
        }

    def _function(self, kind: str) -> dict[str, Any]:
        function = FUNCTIONS[kind]
        shape = self._shape(function.resource)
        arguments = RESOURCES[function.resource].outside_body
        if function.action:
            module, _, name = kind.partition(":")
            shape = self._metadata.result(Token(module, name, None))
            results = self._properties(shape.outputs, shape)
        else:
            results = self._properties(shape.outputs, shape) | {"azureApiVersion": _STRING, "id": _STRING}
        return {
            "inputs": _object(dict.fromkeys((*arguments, *function.query), _STRING), arguments),
            "outputs": _object(results, sorted(results)),
        }

    def _properties(self, slots: Mapping[str, Slot], shape: Shape) -> dict[str, Any]:
        return {name: self._field(slot.field, shape.types) for name, slot in slots.items()}

    def _field(self, field: Field, types: Mapping[str, ObjectType]) -> dict[str, Any]:
        if field.kind == "any":
            return {"$ref": "pulumi.json#/Any"}
        if field.kind == "object":
            return {"$ref": f"#/types/{self._type(field.ref, types)}"}
        if field.items is None:
            return {"type": field.kind}
        inner = self._field(field.items, types)
        if field.kind == "array":
            return {"type": "array", "items": inner}
        return {"type": "object", "additionalProperties": inner}

    def _type(self, key: str, types: Mapping[str, ObjectType]) -> str:
        family, module, name = key.split(":")
        module = "containerservice" if module == "models" else module
        token = f"{self._package}:{module}:{name}" + ("Response" if family == "out" else "")
        if token not in self._types:
            self._types[token] = {}  # a type may hold itself
            known = types[key]
            properties = {name: self._field(field, types) for name, field in known.fields.items()}
            self._types[token] = _object(properties, sorted(known.required))
        return token


def _client_function(kind: str) -> dict[str, Any]:
    results = _CLIENT_RESULTS[kind]
    return {"outputs": _object(dict.fromkeys(results, _STRING), results)}


def _object(properties: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}
