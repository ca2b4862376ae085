"""Reads the text of a file, of whatever encoding tools write."""

import codecs
import os
import stat
import sys
from pathlib import Path

from aksgpu.readers.reading import Unreadable

STANDARD_INPUT = "-"
_BIGGEST = 512 * 1024 * 1024
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(file: str) -> str | Unreadable:
    """Return the text of a file or of standard input."""
    try:
        raw = sys.stdin.buffer.read(_BIGGEST + 1) if file == STANDARD_INPUT else _read(file)
    except OSError as error:
        return Unreadable(file, None, f"This can't be read: {error.strerror or error}.")
    if len(raw) > _BIGGEST:
        return Unreadable(
            file, None, f"This is bigger than {_BIGGEST // 1024 // 1024} MiB; give the parts that matter."
        )
    try:
        return decoded(raw)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return Unreadable(file, line, "This is not text in UTF-8; save it in that encoding.")
    except ValueError as error:
        return Unreadable(file, None, str(error))


def decoded(raw: bytes) -> str:
    """Return the text of bytes: UTF-8, or UTF-16 with its mark, as PowerShell writes; ValueError for anything else."""
    text = raw.decode("utf-16") if raw.startswith(_MARKS) else raw.decode("utf-8-sig")
    if "\0" in text:
        raise ValueError("This is not a text file: it has NUL bytes.")
    return text


def _read(file: str) -> bytes:
    """Read a file or a pipe, such as the shell's `<(helm template …)`; never a device, which may have no end."""
    status = os.stat(file)  # noqa: PTH116 - the name may be one that only the shell knows
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
        raise OSError("it is neither a file nor a pipe")
    expected = status.st_size if stat.S_ISREG(status.st_mode) else _BIGGEST
    with Path(file).open("rb") as stream:
        return stream.read(min(expected, _BIGGEST) + 1)
