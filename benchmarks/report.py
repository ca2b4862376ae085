"""One measured promise: a ratio of two things timed in the same run, and the most it may be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """`ours` and `yardstick` in seconds; the smallest of several rounds each, which noise can only raise."""

    what: str
    ours: float
    yardstick: float
    goal: float

    @property
    def good(self) -> bool:
        """Whether the promise is kept."""
        return self.ours <= self.goal * self.yardstick

    def __str__(self) -> str:
        ratio = self.ours / self.yardstick
        times = f"{self.ours:6.2f} s / {self.yardstick:6.2f} s = {ratio:4.2f}"
        return f"{self.what:<58} {times} (at most {self.goal}) {'ok' if self.good else 'TOO SLOW'}"


def show(ratios: list[Ratio]) -> int:
    """Print the ratios; returns 0 when all promises are kept, else 1."""
    for ratio in ratios:
        print(ratio, flush=True)
    return 0 if all(ratio.good for ratio in ratios) else 1
