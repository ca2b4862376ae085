"""What all facts have in common: they never change, they say where they come from and what they couldn't read."""

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


class Malformed(Facts):
    """A value that is there and can't be what it must be. The fact itself is then `UNKNOWN`."""

    path: str
    """Dotted, e.g. `gpuProfile.nvidia.driverMode`."""
    given: str
    """The value, as JSON when it can be written so."""
    expected: str
    """What would be right, e.g. `a boolean`."""
