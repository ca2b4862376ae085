"""Files that are either the old or the new text, never half of one."""

import os
import tempfile
from pathlib import Path


def replace_text(file: Path, text: str) -> None:
    """Write `text` to `file` in one step; readable by the owner only."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.", delete=False) as scratch:
        scratch.write(text)
    Path(scratch.name).replace(file)


def open_private(file: Path) -> int:
    """Open `file` for appending, creating it for the owner only; returns the descriptor."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
