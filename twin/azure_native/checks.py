"""Validation of inputs, with the texts of the real provider.

It checks what is required, types, lengths and patterns. It does not check enumerations: `driverMode: "Banana"`
passes, and Azure refuses it.
"""

import re
from collections.abc import Iterator, Mapping

from twin.azure_native.catalog import Resource, Text
from twin.azure_native.shapes import Field, ObjectType, Shape
from twin.azure_native.values import UNKNOWN, Value, Values

_LOCATION_HINT = ". Either set it explicitly or configure it with 'pulumi config set azure-native:location <value>'."


def failures(resource: Resource, shape: Shape, inputs: Values) -> list[str]:
    """Return one sentence for every mistake in the inputs; empty when there is none."""
    return [*_parameters(resource, inputs), *_body(shape, inputs)]


def _parameters(resource: Resource, inputs: Values) -> Iterator[str]:
    for name in resource.outside_body:
        if name not in inputs:
            yield f"missing required property '{name}'"
        elif inputs[name] is not UNKNOWN:
            yield from _value(name, Field("string"), inputs[name], {})
            if isinstance(inputs[name], str):
                yield from _text(name, resource.texts.get(name, Text()), inputs[name])


def _body(shape: Shape, inputs: Values) -> Iterator[str]:
    fields = {name: slot.field for name, slot in shape.inputs.items()}
    yield from _object("", ObjectType(fields, shape.required), inputs, shape.types)


def _object(
    path: str, known: ObjectType, values: Mapping[str, Value], types: Mapping[str, ObjectType]
) -> Iterator[str]:
    for name in sorted(known.required - values.keys()):
        here = f"{path}.{name}" if path else name
        yield f"missing required property '{here}'" + (_LOCATION_HINT if here == "location" else "")
    for name, field in known.fields.items():
        if name in values:
            yield from _value(f"{path}.{name}" if path else name, field, values[name], types)


def _value(path: str, field: Field, value: Value, types: Mapping[str, ObjectType]) -> Iterator[str]:
    if value is UNKNOWN or field.kind == "any":
        return
    if isinstance(value, dict):
        if field.kind == "object":
            yield from _object(path, types[field.ref], value, types)
    elif isinstance(value, list):
        yield from _list(path, field, value, types)
    elif isinstance(value, str):
        if field.kind != "string":
            yield _wrong_type(path, field, "a string")
    elif not isinstance(value, bool):
        yield from _number(path, field, value)


def _list(path: str, field: Field, value: list[Value], types: Mapping[str, ObjectType]) -> Iterator[str]:
    if field.kind != "array" or field.items is None:
        yield _wrong_type(path, field, "an array")
        return
    for index, item in enumerate(value):
        yield from _value(f"{path}[{index}]", field.items, item, types)


def _number(path: str, field: Field, value: float) -> Iterator[str]:
    if field.kind not in ("number", "integer"):
        yield _wrong_type(path, field, "a number")
    elif field.kind == "integer" and not isinstance(value, int):
        yield f"'{path}' must be an integer but got {value:f}"


def _wrong_type(path: str, field: Field, got: str) -> str:
    wanted = "" if field.kind in ("object", "map") else field.kind
    return f"'{path}' should be of type '{wanted}' but got {got}"


def _text(path: str, text: Text, value: str) -> Iterator[str]:
    if len(value) < text.shortest:
        yield f"'{path}' is too short ({len(value)}): at least {text.shortest} characters required"
    if text.longest is not None and len(value) > text.longest:
        yield f"'{path}' is too long ({len(value)}): at most {text.longest} characters allowed"
    if text.pattern and not re.search(text.pattern, value):
        yield f"'{path}' does not match expression '{text.pattern}'"
