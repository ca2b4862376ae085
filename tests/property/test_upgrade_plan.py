"""No plan has a step that the simulated Azure refuses, and wherever that accepts some way, the planner finds one.

The rules of the simulated Azure were written from documentation and share no code with the planner. They are asked
here as pure functions, for the full product of control plane, pools, target, channel, support plan and day.
"""

import datetime as dt
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from aksgpu.facts.upgrades import Available, ClusterVersions, Offered, PoolVersion
from aksgpu.upgrade.model import Plan
from aksgpu.upgrade.plan import plan
from twin.arm import locations, upgrade_rules, versions
from twin.arm.errors import ArmError

PLANS = {False: "KubernetesOfficial", True: "AKSLongTermSupport"}
VERSIONS = tuple(patch for minor in versions.MINORS for patch in minor.patches)
TARGETS = (*(minor.name for minor in versions.MINORS if minor.patches), *VERSIONS)
CHANNELS = ("none", "patch", "stable", "rapid", "node-image")
DAYS = (
    dt.date(2026, 6, 15),  # 1.36 is in preview
    dt.date(2026, 7, 15),  # all four minors are supported
    dt.date(2026, 9, 1),  # 1.33 has long-term support only
    dt.date(2026, 12, 15),  # 1.33 and 1.34 have long-term support only
    dt.date(2027, 5, 15),  # 1.36 is all that is left without long-term support
    dt.date(2027, 8, 15),  # 1.33 has no support at all, everything else long-term support only
)


class World(NamedTuple):
    """What decides beside the versions."""

    day: dt.date
    lts: bool
    channel: str


class State(NamedTuple):
    """A cluster: its control plane and its pools."""

    control_plane: str
    pools: tuple[str, ...]


def states(pools: int) -> Iterator[State]:
    """Return every cluster with one or two pools, not above the control plane."""
    for control_plane in VERSIONS:
        below = VERSIONS[: VERSIONS.index(control_plane) + 1]
        for first in below:
            if pools == 1:
                yield State(control_plane, (first,))
            else:
                yield from (State(control_plane, (first, second)) for second in below if second >= first)


class SimulatedAzure:
    """Asks the twin's rules whether a request would be accepted."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.service: Any = SimpleNamespace(settings=SimpleNamespace(today=world.day))

    def cluster(self, version: str) -> dict[str, Any]:
        properties = {
            "kubernetesVersion": version,
            "currentKubernetesVersion": version,
            "supportPlan": PLANS[self.world.lts],
            "autoUpgradeProfile": {"upgradeChannel": self.world.channel},
        }
        return {"name": "aks", "properties": properties}

    def put_cluster(self, state: State, version: str, *, whole: bool) -> State | None:
        """Return the cluster after a PUT with this version, of the pools too when `whole`; None when refused."""
        stored = {
            str(number): {"properties": {"orchestratorVersion": pool, "currentOrchestratorVersion": pool}}
            for number, pool in enumerate(state.pools)
        }
        profiles = [{"name": name, "orchestratorVersion": version} for name in stored] if whole else []
        old, pools = self.cluster(state.control_plane), state.pools
        try:
            changed = self.cluster(upgrade_rules.changed_cluster_version(self.service, old, version))
            skipping = upgrade_rules.check_profiles(self.service, old, changed, stored, profiles)
            if whole:
                pools = tuple(self._pool(changed, pool, version, skipping=skipping) for pool in pools)
            for pool in pools:
                upgrade_rules.check_skew(pool, version)
        except ArmError:
            return None
        return State(version, pools)

    def put_pool(self, state: State, number: int, version: str) -> State | None:
        """Return the cluster after a PUT of one pool; None when refused."""
        pools = list(state.pools)
        try:
            pools[number] = self._pool(self.cluster(state.control_plane), pools[number], version)
        except ArmError:
            return None
        return State(state.control_plane, tuple(pools))

    def _pool(self, cluster: dict[str, Any], pool: str, version: str, *, skipping: bool = False) -> str:
        return upgrade_rules.changed_pool_version(self.service, cluster, pool, version, skipping=skipping)

    def after(self, state: State) -> Iterator[tuple[str, State]]:
        """Return the version and the result of every request that is accepted."""
        for version in VERSIONS:
            answers = [self.put_cluster(state, version, whole=whole) for whole in (False, True)]
            answers += [self.put_pool(state, number, version) for number in range(len(state.pools))]
            yield from ((version, answer) for answer in answers if answer is not None)

    def report(self, state: State) -> ClusterVersions:
        """Return what Azure would report about this cluster."""
        day, lts = self.world.day, self.world.lts
        azure: Any = SimpleNamespace(service=self.service)
        request: Any = None
        listed: Any = locations.kubernetes_versions(azure, request).body
        return ClusterVersions(
            subscription="sub",
            resource_group="rg",
            name="aks",
            location="eastus",
            version=state.control_plane,
            support_plan=PLANS[lts],
            channel=self.world.channel,
            upgrades=self._available(versions.upgrades(state.control_plane, day, long_term=lts)),
            pools=tuple(
                PoolVersion(
                    name=str(number),
                    version=pool,
                    count=3,
                    upgrades=self._available(versions.pool_upgrades(pool, state.control_plane, day, long_term=lts)),
                )
                for number, pool in enumerate(state.pools)
            ),
            offered=tuple(
                Offered(
                    version=patch,
                    preview=row["isPreview"],
                    support_plans=tuple(row["capabilities"]["supportPlan"]),
                    upgrades=tuple(found["upgrades"]),
                )
                for row in listed["values"]
                for patch, found in row["patchVersions"].items()
            ),
        )

    def _available(self, found: list[str]) -> tuple[Available, ...]:
        return tuple(Available(version=v, preview=versions.is_preview(v, self.world.day)) for v in found)


@cache
def accepted(world: World, state: State) -> frozenset[tuple[str, State]]:
    """Return the version and the result of every request that is accepted; the order of pools makes no difference."""
    return frozenset(
        (version, State(found.control_plane, tuple(sorted(found.pools))))
        for version, found in SimulatedAzure(world).after(state)
    )


@cache
def reachable(world: World, start: State, *, preview: bool) -> frozenset[State]:
    """Return every cluster that accepted requests lead to from `start`."""
    seen, waiting = {start}, [start]
    while waiting:
        for version, found in accepted(world, waiting.pop()):
            if found not in seen and (preview or not versions.is_preview(version, world.day)):
                seen.add(found)
                waiting.append(found)
    return frozenset(seen)


def is_there(state: State, target: str) -> bool:
    return all(v == target or v.rpartition(".")[0] == target for v in (state.control_plane, *state.pools))


def replay(azure: SimulatedAzure, state: State, found: Plan) -> State:
    """Send the plan's steps one after the other; AssertionError for one that is refused."""
    for step in found.steps:
        version = step.moves[0].after
        if step.kind == "node-pool":
            after = azure.put_pool(state, int(step.moves[0].what), version)
        else:
            after = azure.put_cluster(state, version, whole=step.kind == "cluster")
        assert after is not None, f"{azure.world} refuses step {step.number} of {state}: {step.command}"
        state = after
    return state


def check(world: World, start: State, *, preview: bool) -> int:
    """Check the plans to every target; returns how many there are."""
    azure = SimulatedAzure(world)
    report = azure.report(start)
    for target in TARGETS:
        found = plan(report, target, world.day, preview=preview)
        # A channel that upgrades nothing is for Azure the same as none, and so are the three that do.
        class_ = world._replace(channel="stable" if world.channel in ("patch", "stable", "rapid") else "none")
        possible = any(is_there(state, target) for state in reachable(class_, start, preview=preview))
        assert (found.refusal is None) is possible, f"{world} {start} to {target}: {found.refusal or 'no way'}"
        if found.refusal is None:
            assert is_there(replay(azure, start, found), target)
            used = {move.after for step in found.steps for move in step.moves}
            assert preview or not any(versions.is_preview(version, world.day) for version in used)
    return len(TARGETS)


@pytest.mark.parametrize("day", DAYS, ids=str)
def test_a_cluster_with_one_pool_in_every_channel(day: dt.date):
    checked = sum(
        check(World(day, lts, channel), start, preview=preview)
        for lts in PLANS
        for channel in CHANNELS
        for preview in (False, True)
        for start in states(1)
    )
    assert checked == 36 * 12 * 5 * 2 * 2


@pytest.mark.parametrize("day", DAYS, ids=str)
def test_a_cluster_with_two_pools(day: dt.date):
    checked = sum(
        check(World(day, lts, channel), start, preview=False)
        for lts in PLANS
        for channel in ("none", "stable")
        for start in states(2)
    )
    assert checked == 120 * 12 * 2 * 2
