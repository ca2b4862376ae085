"""Plans the upgrade of a cluster from what Azure reports about it. Reads nothing and changes nothing."""

from collections.abc import Iterator
from datetime import date

from aksgpu.facts.upgrades import ClusterVersions, PoolVersion
from aksgpu.knowledge.upgrades import BRINGS
from aksgpu.upgrade import estimate, target
from aksgpu.upgrade.model import CONTROL_PLANE, Duration, Extra, Move, Plan, PoolNow, Refusal, Step
from aksgpu.upgrade.path import Operation, StuckError, control_plane_path, operations
from aksgpu.upgrade.refusals import left_behind, no_way, unreachable
from aksgpu.upgrade.target import Target
from aksgpu.upgrade.warnings import supported_until, warnings
from aksgpu.upgrade.ways import Ways


def plan(cluster: ClusterVersions, wanted: str | None, today: date, *, preview: bool = False) -> Plan:
    """Return the way of a cluster to `wanted` (`1.35` or `1.35.4`), or why there is none.

    Without `wanted`: to the first minor that allows managed DRA, from there on to the newest that AKS offers.
    Preview versions are used only with `preview`. Raises AksgpuError when `wanted` is no version.
    """
    ways = Ways(cluster, preview=preview)
    goal = target.read(wanted) if wanted is not None else target.default(ways)
    found = unreachable(ways, goal) or _way(ways, goal)
    steps = [] if isinstance(found, Refusal) else found
    return Plan(
        cluster=cluster.name,
        resource_group=cluster.resource_group,
        subscription=cluster.subscription,
        location=cluster.location,
        today=today,
        support_plan=cluster.support_plan,
        channel=cluster.channel,
        control_plane=cluster.version,
        pools=tuple(
            PoolNow(name=pool.name, version=pool.version, mode=pool.mode, count=pool.count, vm_size=pool.vm_size)
            for pool in cluster.pools
        ),
        target=str(goal),
        supported_until=supported_until(goal.line, cluster.support_plan),
        steps=tuple(_step(ways, number, operation) for number, operation in enumerate(steps, start=1)),
        refusal=found if isinstance(found, Refusal) else None,
        warnings=warnings(ways, goal, today, steps),
        assumptions=estimate.ASSUMPTIONS if steps else (),
    )


def _way(ways: Ways, goal: Target) -> list[Operation] | Refusal:
    path = control_plane_path(ways, goal.is_met)
    if path is None:
        return no_way(ways, goal)
    try:
        return operations(ways, path, goal.is_met, [pool.name for pool in _in_order(ways.cluster.pools)])
    except StuckError as stuck:
        return left_behind(ways, stuck)


def _in_order(pools: tuple[PoolVersion, ...]) -> list[PoolVersion]:
    """Return pools in the order to upgrade them: system pools first, those with GPUs last, where a drain costs most."""
    return sorted(pools, key=lambda pool: (estimate.has_gpus(pool), pool.mode != "System", pool.name))


def _step(ways: Ways, number: int, operation: Operation) -> Step:
    pools = {pool.name: pool for pool in ways.cluster.pools}
    moving = [pools[move.pool] for move in operation.moves if move.pool is not None]
    return Step(
        number=number,
        kind=operation.kind,
        moves=tuple(
            Move(what=move.pool or CONTROL_PLANE, before=str(move.before), after=str(move.after))
            for move in operation.moves
        ),
        brings=tuple(_brings(operation)),
        minutes=_minutes(operation, moving),
        extra=_extra(moving),
        command=_command(ways.cluster, operation),
    )


def _brings(operation: Operation) -> Iterator[str]:
    hop = operation.moves[0]
    if hop.pool is None:
        for line, news in BRINGS.items():
            if hop.before.line < line <= hop.after.line:
                yield from (f"{line}: {text}" for text in news)


def _minutes(operation: Operation, moving: list[PoolVersion]) -> Duration:
    start = Duration(low=0, high=0) if operation.kind == "node-pool" else estimate.of_control_plane()
    return sum((estimate.of_pool(pool) for pool in moving), start=start)


def _extra(moving: list[PoolVersion]) -> tuple[Extra, ...]:
    needed = (estimate.surge(pool) for pool in moving)
    return tuple(extra for extra in needed if extra is not None)


def _command(cluster: ClusterVersions, operation: Operation) -> str:
    group, version = f"--resource-group {cluster.resource_group}", f"--kubernetes-version {operation.moves[0].after}"
    if operation.kind == "node-pool":
        pool = operation.moves[0].pool
        return f"az aks nodepool upgrade {group} --cluster-name {cluster.name} --name {pool} {version}"
    alone = " --control-plane-only" if operation.kind == "control-plane" else ""
    return f"az aks upgrade {group} --name {cluster.name} {version}{alone}"
