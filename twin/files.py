"""Files that are either the old or the new text, never half of one."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from twin.errors import TwinError


def unreadable(file: Path, why: object) -> TwinError:
    """Return the error for a file of a twin that somebody or something has damaged."""
    return TwinError(
        f"The file {file} of the twin can't be read ({why}). Put it right, or forget the twin and start anew with "
        "`aksgpu twin reset` (with --name, if it has one)."
    )


def read_object(file: Path) -> dict[str, Any]:
    """Return the JSON object in `file`; FileNotFoundError when there is no such file, TwinError for anything else."""
    try:
        found = json.loads(file.read_text())
    except ValueError as error:
        raise unreadable(file, error) from error
    if not isinstance(found, dict):
        raise unreadable(file, "it holds no JSON object")
    return found


def replace_text(file: Path, text: str) -> None:
    """Write `text` to `file` in one step; readable by the owner only."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.", delete=False) as scratch:
        scratch.write(text)
    Path(scratch.name).replace(file)


def open_private(file: Path) -> int:
    """Open `file` for appending, creating it for the owner only; returns the descriptor."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
