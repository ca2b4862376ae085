"""What all facts have in common: they never change, they say where they come from and what they couldn't read."""

import json

from pydantic import BaseModel, ConfigDict


class Facts(BaseModel):
    """A frozen model; types are strict so that a reader can't slip in a value of another type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)


class Place(Facts):
    """Where a fact was read, for people."""

    object: str
    """A Pulumi URN, `Kind namespace/name`, or a key of the configuration."""
    file: str | None = None
    line: int | None = None
    """1-based."""
    document: int | None = None
    """Which document of the file, from 0."""
    path: str | None = None
    """Where in the document, dotted: `spec.template.spec.containers[0].env`; leads to the line."""

    def at(self, path: str) -> "Place":
        """Return a place inside this one, at a dotted path of the object."""
        return self.model_copy(update={"path": f"{self.path}.{path}" if self.path else path})


class Malformed(Facts):
    """A value that is there and can't be what it must be. The fact itself is then `UNKNOWN`."""

    path: str
    """Dotted, e.g. `gpuProfile.nvidia.driverMode`."""
    given: str
    """The value as `shown` writes it."""
    expected: str
    """What would be right, e.g. `a boolean`."""


def shown(value: object) -> str:
    """Write a value for a person: as JSON, on one line, printable, at most 80 characters."""
    try:
        text = json.dumps(value, default=repr)
    except (TypeError, ValueError):  # keys that aren't text, or a value inside itself
        text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
