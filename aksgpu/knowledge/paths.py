"""Paths of a node, as the kernel reads them."""

import posixpath


def normal(path: str) -> str:
    """Return a path without dots and doubled slashes; POSIX gives two leading slashes a meaning that Linux doesn't."""
    clean = posixpath.normpath(path)
    return clean[1:] if clean.startswith("//") else clean
