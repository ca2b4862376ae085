"""The shapes of resources and functions: which fields there are, and where each lies in a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Field:
    """The type of one field."""

    kind: str
    """`string`, `integer`, `number`, `boolean`, `any`, `object`, `array` or `map`."""
    ref: str = ""
    """The name of the object type, when kind is `object`."""
    items: "Field | None" = None
    """The type of the items of an array or map."""

    @classmethod
    def parse(cls, data: str | Mapping[str, Any]) -> "Field":
        """Read the form of the metadata file: a kind, or one key `object`, `array` or `map`."""
        if isinstance(data, str):
            return cls(data)
        ((kind, inner),) = data.items()
        return cls(kind, ref=inner) if kind == "object" else cls(kind, items=cls.parse(inner))


@dataclass(frozen=True)
class ObjectType:
    """An object with known fields."""

    fields: Mapping[str, Field]
    required: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Slot:
    """A field of a resource and the object of the request that holds it."""

    field: Field
    container: str = ""
    """`properties` when the SDK lifts the field out of it, empty for a field at the top."""


@dataclass(frozen=True)
class Shape:
    """What a resource takes and returns, at one API version."""

    inputs: Mapping[str, Slot]
    """Body fields only; parts of the path are in the catalog."""
    outputs: Mapping[str, Slot]
    types: Mapping[str, ObjectType]
    required: frozenset[str] = field(default=frozenset())
    """Body fields without which Check fails."""
