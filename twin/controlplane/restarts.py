"""When a part that keeps dying may be started again."""

import time

_QUICK_SECONDS = 20.0
_LONGEST_WAIT_SECONDS = 30.0


class Restarts:
    """Remembers starts; each death soon after a start doubles the wait before the next."""

    def __init__(self) -> None:
        self._started: dict[str, float] = {}
        self._wait: dict[str, float] = {}

    def started(self, part: str) -> None:
        """Note that `part` was started now."""
        now, waited = time.monotonic(), self._wait.get(part, 0.0)
        quick = part in self._started and now - self._started[part] < _QUICK_SECONDS + waited
        self._wait[part] = min(max(waited * 2, 1.0), _LONGEST_WAIT_SECONDS) if quick else 0.0
        self._started[part] = now

    def due(self, part: str) -> bool:
        """Return whether `part`, now dead, may be started again."""
        return time.monotonic() - self._started.get(part, 0.0) >= self._wait.get(part, 0.0)
