"""Property values between the engine's protocol and Python.

The plugin tells the engine that it takes neither secrets nor output values (as the real provider does), so the
engine unwraps both before a call and marks what was secret again afterwards. Only unknown values remain
special: on the wire they are reserved strings, in Python the one object `UNKNOWN`.
"""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import struct_pb2

from twin.errors import TwinError


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()
"""A value that is not known yet, in a preview."""

Value = Any
"""One property value: str, int, float, bool, UNKNOWN, or a list or dict of values."""

Values = dict[str, Value]
"""Property names to values; never None."""

_UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWNS = frozenset(
    {
        _UNKNOWN_STRING,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # list
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # map
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
    }
)
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the protocol's mark of a secret, not one itself


def from_struct(message: struct_pb2.Struct) -> Values:
    """Return the properties of a message; nulls are left out, whole numbers are int."""
    return {
        key: _from_value(value) for key, value in message.fields.items() if value.WhichOneof("kind") != "null_value"
    }


def _from_value(value: struct_pb2.Value) -> Value:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return UNKNOWN if value.string_value in _UNKNOWNS else value.string_value
    if kind == "number_value":
        number = float(value.number_value)
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "list_value":
        return [_from_value(item) for item in value.list_value.values]
    if kind == "struct_value":
        return _from_object(value.struct_value)
    return None


def _from_object(message: struct_pb2.Struct) -> Value:
    mark = message.fields.get(_SIGNATURE)
    if mark is None:
        return from_struct(message)
    if mark.string_value == _SECRET:
        return _from_value(message.fields["value"])
    raise TwinError(
        "The twin's azure-native was given an asset, an archive or a resource as a property value. "
        "None of its resources takes one; pass plain values."
    )


def to_struct(values: Mapping[str, Value]) -> struct_pb2.Struct:
    """Return a message with the given properties; the reverse of from_struct."""
    message = struct_pb2.Struct()
    message.update(_wire(values))
    return message


def _wire(value: Value) -> Value:
    if value is UNKNOWN:
        return _UNKNOWN_STRING
    if isinstance(value, Mapping):
        return {key: _wire(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_wire(item) for item in value]
    return value


def has_unknowns(value: Value) -> bool:
    """Say whether the value is, or contains, UNKNOWN."""
    if isinstance(value, Mapping):
        return any(has_unknowns(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknowns(item) for item in value)
    return value is UNKNOWN
