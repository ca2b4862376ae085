"""Turns inputs into request bodies, and answers into outputs, preview outputs and inputs.

The real provider builds a body from its metadata alone. A key that the metadata doesn't have is dropped without
a word, at every depth; so is it here.
"""

from collections.abc import Mapping

from twin.azure_native.shapes import Field, ObjectType, Shape
from twin.azure_native.values import UNKNOWN, Value, Values

_Types = Mapping[str, ObjectType]


def request_body(shape: Shape, inputs: Values) -> dict[str, Value]:
    """Return the body of the PUT for the given inputs."""
    body: dict[str, Value] = {}
    for name, slot in shape.inputs.items():
        if name in inputs:
            holder = body.setdefault(slot.container, {}) if slot.container else body
            holder[name] = _known(slot.field, inputs[name], shape.types)
    return body


def outputs(shape: Shape, body: Mapping[str, Value]) -> Values:
    """Return the outputs for an answer of Azure: its known fields, those of `properties` lifted if need be."""
    result: Values = {}
    for name, slot in shape.outputs.items():
        holder = body.get(slot.container) if slot.container else body
        if isinstance(holder, Mapping) and holder.get(name) is not None:
            result[name] = _known(slot.field, holder[name], shape.types)
    return result


def preview_outputs(shape: Shape, inputs: Values) -> Values:
    """Return the outputs a preview can tell: what the program gave, everything else UNKNOWN."""
    return _preview({name: slot.field for name, slot in shape.outputs.items()}, inputs, shape.types)


def projected_inputs(shape: Shape, known_outputs: Values) -> Values:
    """Return the part of the outputs that could have been inputs, in the shape of inputs."""
    return {
        name: _known(slot.field, known_outputs[name], shape.types)
        for name, slot in shape.inputs.items()
        if name in known_outputs
    }


def _known(field: Field, value: Value, types: _Types) -> Value:
    """Leave only what the field's type knows."""
    if field.kind == "object" and isinstance(value, Mapping):
        known = types[field.ref].fields
        return {
            name: _known(known[name], item, types) for name, item in value.items() if name in known and item is not None
        }
    if field.items and isinstance(value, list):
        return [_known(field.items, item, types) for item in value]
    if field.items and isinstance(value, Mapping):
        return {name: _known(field.items, item, types) for name, item in value.items() if item is not None}
    return value


def _preview(fields: Mapping[str, Field], given: Values, types: _Types) -> Values:
    return {
        name: _preview_value(field, given[name], types) if name in given else UNKNOWN for name, field in fields.items()
    }


def _preview_value(field: Field, value: Value, types: _Types) -> Value:
    if field.kind == "object" and isinstance(value, dict):
        return _preview(types[field.ref].fields, value, types)
    if field.items and isinstance(value, list):
        return [_preview_value(field.items, item, types) for item in value]
    return value
