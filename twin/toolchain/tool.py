"""What is known about one tool."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Tool:
    """A program the twin runs, and where it comes from."""

    name: str
    path: Path | None
    """None when the tool has still to be built."""
    version: str
    """Without a leading v; of a tool that is missing, the version that would be built."""
    origin: Literal["path", "built", "missing"]
    note: str = ""
    """Why one that is on PATH is not used; empty when there is nothing to say."""
