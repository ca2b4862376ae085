"""Which version changes AKS accepts, as far as a client can know before it asks.

What Azure reports for the cluster as it is now is taken as it is. For the versions the cluster passes through later
there are only the documented rules and the region's list.
"""

from collections.abc import Iterable
from functools import cached_property

from aksgpu.facts.upgrades import Available, ClusterVersions
from aksgpu.knowledge.kubernetes import MAX_MINORS_BEHIND
from aksgpu.knowledge.upgrades import UPGRADING_CHANNELS
from aksgpu.upgrade.versions import Version, minors_between, parse


class Ways:
    """The version changes that are open to one cluster."""

    def __init__(self, cluster: ClusterVersions, *, preview: bool) -> None:
        """`preview`: whether preview versions may be used."""
        self.cluster = cluster
        self.now = parse(cluster.version)
        self.pools = {pool.name: parse(pool.version) for pool in cluster.pools}
        self._preview = preview
        self._live = {pool.name: pool for pool in cluster.pools}

    @cached_property
    def supported(self) -> tuple[Version, ...]:
        """What the region has under the cluster's support plan, preview versions too; oldest first."""
        plan = self.cluster.support_plan
        return tuple(sorted(parse(entry.version) for entry in self.cluster.offered if plan in entry.support_plans))

    @cached_property
    def offered(self) -> tuple[Version, ...]:
        """The part of it that may be used."""
        return tuple(version for version in self.supported if self.may_use(version))

    def may_use(self, version: Version) -> bool:
        """Tell whether a version is no preview version, or may be one."""
        return self._preview or version not in self._previews

    @cached_property
    def _previews(self) -> frozenset[Version]:
        entries = (*self.cluster.offered, *self.cluster.upgrades)
        return frozenset(parse(entry.version) for entry in entries if entry.preview)

    @property
    def moves_as_one(self) -> bool:
        """Whether AKS refuses to move the control plane without the pools, because of the auto-upgrade channel."""
        return self.cluster.channel in UPGRADING_CHANNELS

    def control_plane(self, version: Version) -> list[Version]:
        """Return where a control plane on this version can go, oldest first."""
        if version == self.now:
            return self._usable(self.cluster.upgrades)
        listed = next((entry.upgrades for entry in self.cluster.offered if parse(entry.version) == version), ())
        return sorted(target for target in map(parse, listed) if target in self.offered and target > version)

    def is_recovery(self, before: Version, after: Version) -> bool:
        """Tell whether this hop leaves a version out of support by skipping minors: only the whole cluster can."""
        return minors_between(before, after) > 1 and before not in self.supported

    def takes_all_pools(self, before: Version, after: Version) -> bool:
        """Tell whether this hop of the control plane must take the pools along."""
        return self.moves_as_one or self.is_recovery(before, after)

    def comes_along(self, pool: Version, before: Version, after: Version) -> bool:
        """Tell whether a pool can go to `after` in one request with its control plane."""
        return self.is_recovery(before, after) or minors_between(pool, after) <= max(1, minors_between(before, after))

    def pool(self, name: str, version: Version, control_plane: Version) -> list[Version]:
        """Return where a pool on this version can go below this control plane, oldest first."""
        live = self._live[name]
        if (version, control_plane) == (parse(live.version), self.now):
            return self._usable(live.upgrades)
        return [w for w in self.offered if version < w <= control_plane and minors_between(version, w) <= 1]

    def bears(self, control_plane: Version, pool: Version) -> bool:
        """Tell whether a pool can stay on its version below this control plane."""
        return pool <= control_plane and minors_between(pool, control_plane) <= MAX_MINORS_BEHIND

    def _usable(self, available: Iterable[Available]) -> list[Version]:
        return sorted(parse(entry.version) for entry in available if self._preview or not entry.preview)
