"""Kubernetes versions that can be compared."""

import re
from functools import lru_cache
from typing import NamedTuple

from aksgpu.errors import AksgpuError
from aksgpu.knowledge.kubernetes import Minor

_PATCH = re.compile(r"v?(\d{1,3})\.(\d{1,3})\.(\d{1,3})")


class Version(NamedTuple):
    """A patch version such as 1.35.4."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def line(self) -> Minor:
        """The minor, 1.35."""
        return Minor(self.major, self.minor)


@lru_cache(maxsize=1024)
def parse(text: str) -> Version:
    """Read `1.35.4`; raises AksgpuError for anything else."""
    match = _PATCH.fullmatch(text)
    if match is None:
        raise AksgpuError(f"Azure reports the Kubernetes version '{text}', which isn't of the form 1.35.4.")
    return Version(int(match[1]), int(match[2]), int(match[3]))


def minors_between(older: Version, newer: Version) -> int:
    """Return how many minors `newer` is ahead."""
    return newer.minor - older.minor
