"""What every reader of files returns: the facts it found, and what it could not read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from aksgpu.facts.estate import Estate


@dataclass(frozen=True)
class Unreadable:
    """A file, or a part of one, that could not be read at all."""

    file: str
    line: int | None
    """1-based; None when the whole file is meant."""
    message: str
    """What is wrong and what to do, in one or two sentences."""


@dataclass(frozen=True)
class Reading:
    """Facts and what is missing from them."""

    estate: Estate = field(default_factory=Estate)
    unreadable: tuple[Unreadable, ...] = ()
    files: int = 0
    """How many files were read."""
    passed_over: int = 0
    """How many of them turned out to be something that nobody asked about."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The text of files with facts, for finding lines; standard input can't be read twice."""

    @classmethod
    def merge(cls, readings: "Iterable[Reading]") -> "Reading":
        """Join what several files gave."""
        parts = list(readings)
        return cls(
            Estate.merge(part.estate for part in parts),
            tuple(item for part in parts for item in part.unreadable),
            sum(part.files for part in parts),
            sum(part.passed_over for part in parts),
            {file: text for part in parts for file, text in part.texts.items()},
        )
