"""What an upgrade is to lead to."""

from typing import NamedTuple

from aksgpu.errors import AksgpuError
from aksgpu.knowledge.kubernetes import MANAGED_DRA_MINIMUM, Minor, parse_minor, parse_patch
from aksgpu.upgrade.versions import Version
from aksgpu.upgrade.ways import Ways

LTS = "AKSLongTermSupport"


class Target(NamedTuple):
    """A minor, or a patch version of it."""

    line: Minor
    patch: int | None = None

    def __str__(self) -> str:
        return str(self.line) if self.patch is None else f"{self.line}.{self.patch}"

    def is_met(self, version: Version) -> bool:
        """Tell whether a version is what was asked for; any patch of a minor is."""
        return version.line == self.line and self.patch in (None, version.patch)

    def is_past(self, version: Version) -> bool:
        """Tell whether a version is beyond the target."""
        return version.line > self.line or (
            version.line == self.line and self.patch is not None and version.patch > self.patch
        )


def read(text: str) -> Target:
    """Read `1.35` or `1.35.4`; raises AksgpuError for anything else."""
    minor = parse_minor(text)
    if minor is None:
        raise AksgpuError(f"'{text}' is no Kubernetes version. Give a minor such as 1.35 or a patch such as 1.35.4.")
    return Target(minor, parse_patch(text))


def default(ways: Ways) -> Target:
    """Return the target of a plan without one: what managed DRA needs; beyond that the newest minor that is offered."""
    lines = [version.line for version in ways.offered]
    enough = [line for line in lines if line >= MANAGED_DRA_MINIMUM]
    if ways.now.line < MANAGED_DRA_MINIMUM:
        return Target(min(enough, default=MANAGED_DRA_MINIMUM))
    return Target(max([ways.now.line, *lines]))
