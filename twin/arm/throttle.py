"""Azure's limit on writes: a bucket of tokens for each cluster, and one for its pools.

In memory only: a restarted twin starts with full buckets.
"""

import math
import threading
import time
from dataclasses import dataclass, field

from twin.arm.errors import ArmError
from twin.arm.settings import Settings


@dataclass
class Throttle:
    """Counts PUTs by bucket."""

    _tokens: dict[str, tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, bucket: str, settings: Settings) -> None:
        """Use one token; raises ArmError (429 with Retry-After) when the bucket is empty."""
        per_second = settings.writes_per_minute / 60
        with self._lock:
            tokens, last = self._tokens.get(bucket, (float(settings.write_burst), time.monotonic()))
            moment = time.monotonic()
            tokens = min(settings.write_burst, tokens + (moment - last) * per_second)
            if tokens < 1:
                self._tokens[bucket] = (tokens, moment)
                raise throttled(math.ceil((1 - tokens) / per_second))
            self._tokens[bucket] = (tokens - 1, moment)


def throttled(seconds: int) -> ArmError:
    """Return the 429 that asks to come back later."""
    return ArmError(
        429,
        "Throttled",
        f"The request is throttled: too many writes. Please retry after {seconds} seconds.",
        retry_after=seconds,
    )
