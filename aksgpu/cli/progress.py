"""Shows how far long work is, on a terminal and only when it takes a while."""

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

_PATIENCE = 2.0
"""Seconds; what is over before nobody waits for."""


class OnStep(Protocol):
    """Told how many steps are done, of how many."""

    def __call__(self, done: int, total: int, /) -> None:
        """Show it, when it is time."""


@contextmanager
def progress(title: str) -> Generator[OnStep | None]:
    """Return what to call after every step; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(title)
    try:
        yield bar.step
    finally:
        bar.close()


class _Bar:
    def __init__(self, title: str) -> None:
        self._title = title
        self._start = self._shown = time.monotonic()
        self._open = False

    def step(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._start < _PATIENCE or now - self._shown < 0.1:
            return
        self._shown, self._open = now, True
        sys.stderr.write(f"\r{self._title}: {done} of {total}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
