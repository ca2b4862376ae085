"""Finds the way: the versions of the control plane in order, and when each pool follows."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from aksgpu.upgrade.versions import Version, minors_between
from aksgpu.upgrade.ways import Ways

Goal = Callable[[Version], bool]
"""Whether a version is what was asked for."""


class Moved(NamedTuple):
    """A pool (None: the control plane) that goes from one version to another."""

    pool: str | None
    before: Version
    after: Version


class Operation(NamedTuple):
    """One request to Azure."""

    kind: Literal["control-plane", "node-pool", "cluster"]
    moves: tuple[Moved, ...]


class StuckError(Exception):
    """A pool that can't come along."""

    def __init__(self, pool: str, version: Version, control_plane: Version, wanted: Version) -> None:
        super().__init__(pool)
        self.pool = pool
        self.version = version
        self.control_plane = control_plane
        """The control plane's version at which the pool can't go on."""
        self.wanted = wanted


def control_plane_path(ways: Ways, goal: Goal) -> list[Version] | None:
    """Return the control plane's versions from the present one to the goal; None when there is no way.

    A minor that AKS offers is never skipped, though AKS may allow it: what is removed in it shows there and not later.
    Then the fewest hops, then the newest patches.
    """
    # Versions only rise, so every predecessor is settled before it is used.
    best: dict[Version, tuple[tuple[int, int, int], list[Version]]] = {ways.now: ((0, 0, 0), [ways.now])}
    for version in sorted({ways.now, *_reachable(ways)}):
        (skips, hops, stale), path = best[version]
        for after in ways.control_plane(version):
            skipped = max(0, minors_between(version, after) - 1)
            newer = sum(other.line == after.line and other > after for other in ways.offered)
            cost = (skips + skipped, hops + 1, stale + newer)
            if after not in best or cost < best[after][0]:
                best[after] = (cost, [*path, after])
    reached = [found for version, found in best.items() if goal(version)]
    return min(reached)[1] if reached else None


def _reachable(ways: Ways) -> set[Version]:
    found: set[Version] = set()
    waiting = [ways.now]
    while waiting:
        new = set(ways.control_plane(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def operations(ways: Ways, path: Sequence[Version], goal: Goal, order: Sequence[str]) -> list[Operation]:
    """Return the requests that take the control plane along `path` and the pools with it, pools in this order.

    Pools follow after every hop, so that no node is ever more than one minor behind for long; a pool is not moved from
    patch to patch on the way. Raises StuckError when a pool can't follow.
    """
    made: list[Operation] = []
    pools = {name: ways.pools[name] for name in order}
    for before, after in itertools.pairwise(path):
        made += _follow(ways, pools, before, lambda version, line=before.line: version.line == line)
        made.append(_hop(ways, pools, before, after))
    made += _follow(ways, pools, path[-1], goal)
    for name, version in pools.items():
        if not goal(version):
            raise StuckError(name, version, path[-1], path[-1])
    return made


def _hop(ways: Ways, pools: dict[str, Version], before: Version, after: Version) -> Operation:
    """Return the control plane's hop; the pools that must move with it are moved in `pools`."""
    whole = ways.takes_all_pools(before, after)
    for name, version in pools.items():
        if not (ways.comes_along(version, before, after) if whole else ways.bears(after, version)):
            raise StuckError(name, version, before, after)
    hop = Moved(None, before, after)
    if not whole:
        return Operation("control-plane", (hop,))
    moves = [Moved(name, version, after) for name, version in pools.items()]
    pools.update(dict.fromkeys(pools, after))
    return Operation("cluster", (hop, *moves))


def _follow(ways: Ways, pools: dict[str, Version], control_plane: Version, goal: Goal) -> Iterable[Operation]:
    """Return the moves that bring pools to the goal below this control plane, furthest behind first."""
    moves: list[tuple[int, Moved]] = []
    for name, version in pools.items():
        climbed = _climb(ways, name, version, control_plane, goal)
        moves += [(move.after.minor, move) for move in climbed]
        if climbed:
            pools[name] = climbed[-1].after
    return [Operation("node-pool", (move,)) for _, move in sorted(moves, key=lambda entry: entry[0])]


def _climb(ways: Ways, name: str, version: Version, control_plane: Version, goal: Goal) -> list[Moved]:
    """Return the fewest moves of a pool to the goal, by the newest patches; none when it is there or can't be."""
    paths, seen = [[version]], {version}
    while paths:
        reached = [path for path in paths if goal(path[-1])]
        if reached:
            path = max(reached)
            return [Moved(name, before, after) for before, after in itertools.pairwise(path)]
        longer: list[list[Version]] = []
        for path in sorted(paths, reverse=True):
            for after in ways.pool(name, path[-1], control_plane):
                if after not in seen:
                    seen.add(after)
                    longer.append([*path, after])
        paths = longer
    return []
