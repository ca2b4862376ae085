"""Kubernetes versions that the simulated AKS offers, and what a version may be upgraded to.

Calendar: the AKS document "Supported Kubernetes versions" of 2026-08-05; a month means its last day. The
patch releases are invented, two for each minor that the control-plane binaries can emulate.
"""

import calendar
import datetime as dt
import re
from dataclasses import dataclass


def _end(year: int, month: int) -> dt.date:
    return dt.date(year, month, calendar.monthrange(year, month)[1])


@dataclass(frozen=True)
class Minor:
    """One Kubernetes minor on AKS."""

    name: str
    preview: dt.date
    ga: dt.date
    end: dt.date
    """Last day of community support."""
    lts_end: dt.date
    """Last day of long-term support."""
    patches: tuple[str, ...] = ()
    """Offered patch versions, oldest first; empty when the twin can't run this minor."""


MINORS = (
    Minor("1.32", _end(2025, 2), _end(2025, 4), _end(2026, 3), _end(2027, 3)),
    Minor("1.33", _end(2025, 5), _end(2025, 6), _end(2026, 7), _end(2027, 7), ("1.33.7", "1.33.8")),
    Minor("1.34", _end(2025, 10), _end(2025, 11), _end(2026, 11), _end(2027, 11), ("1.34.4", "1.34.5")),
    Minor("1.35", _end(2026, 2), _end(2026, 3), _end(2027, 3), _end(2028, 3), ("1.35.3", "1.35.4")),
    Minor("1.36", _end(2026, 5), _end(2026, 6), _end(2027, 6), _end(2028, 6), ("1.36.1", "1.36.2")),
    Minor("1.37", _end(2026, 9), _end(2026, 10), _end(2027, 10), _end(2028, 10)),
)
_ALIAS = re.compile(r"1\.\d+")
_FULL = re.compile(r"1\.\d+\.\d+")


def number(version: str) -> tuple[int, ...]:
    """Return `1.35.4` as (1, 35, 4)."""
    return tuple(int(part) for part in version.split("."))


def minor_of(version: str) -> int:
    """Return the minor, e.g. 35."""
    return number(version)[1]


def well_formed(version: str) -> bool:
    """Say whether this is `1.35` or `1.35.4`."""
    return bool(_ALIAS.fullmatch(version) or _FULL.fullmatch(version))


def offered(today: dt.date, *, long_term: bool = False) -> list[Minor]:
    """Return the minors a new cluster can have today, oldest first."""
    return [
        minor
        for minor in MINORS
        if minor.patches and minor.preview <= today <= (minor.lts_end if long_term else minor.end)
    ]


def default_minor(today: dt.date) -> Minor:
    """Return the minor of a cluster created without a version: the one before the newest in GA.

    When all that the twin knows is out of community support, it is taken from those with long-term support.
    """
    ga = [minor for minor in offered(today) or offered(today, long_term=True) if minor.ga <= today]
    return ga[-2] if len(ga) > 1 else ga[-1]


def resolve(version: str, today: dt.date, *, long_term: bool = False) -> str | None:
    """Return the patch version that `1.35` or `1.35.4` stands for; None when it isn't offered."""
    for minor in offered(today, long_term=long_term):
        if version == minor.name:
            return minor.patches[-1]
        if version in minor.patches:
            return version
    return None


def upgrades(current: str, today: dt.date, *, long_term: bool = False) -> list[str]:
    """Return what a control plane on `current` can be upgraded to: newer patches and the next minor.

    From a minor out of support the way leads to the next supported minor, however far that is.
    """
    mine = minor_of(current)
    supported = offered(today, long_term=long_term)
    later = [m for m in supported if minor_of(m.name) > mine]
    same = [m for m in supported if minor_of(m.name) == mine]
    return [patch for minor in [*same, *later[:1]] for patch in minor.patches if number(patch) > number(current)]


def is_recovery(current: str, version: str, today: dt.date, *, long_term: bool = False) -> bool:
    """Say whether this upgrade leads out of a minor without support and skips minors."""
    supported = {minor_of(minor.name) for minor in offered(today, long_term=long_term)}
    return minor_of(version) > minor_of(current) + 1 and minor_of(current) not in supported


def pool_upgrades(current: str, control_plane: str, today: dt.date, *, long_term: bool = False) -> list[str]:
    """Return what a pool on `current` can be upgraded to: one minor at most, not above the control plane.

    The control plane's own version is among them even when it is no longer offered.
    """
    known = {patch for minor in offered(today, long_term=long_term) for patch in minor.patches} | {control_plane}
    reachable = [patch for patch in known if minor_of(patch) <= minor_of(current) + 1]
    return sorted((v for v in reachable if number(current) < number(v) <= number(control_plane)), key=number)


def is_preview(version: str, today: dt.date) -> bool:
    """Say whether the version's minor is still in preview."""
    return any(minor_of(m.name) == minor_of(version) and today < m.ga for m in MINORS)
