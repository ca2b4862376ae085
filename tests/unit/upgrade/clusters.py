"""Clusters as Azure would report them, for tests of the planner."""

from typing import Any

from aksgpu.facts.upgrades import Available, ClusterVersions, Offered, PoolVersion, UpgradeSettings

MINORS = {
    33: ("1.33.7", "1.33.8"),
    34: ("1.34.4", "1.34.5"),
    35: ("1.35.3", "1.35.4"),
    36: ("1.36.1", "1.36.2"),
}
LTS = "AKSLongTermSupport"
BOTH = ("KubernetesOfficial", LTS)


def cluster(
    version: str,
    *pools: PoolVersion,
    minors: tuple[int, ...] = (33, 34, 35, 36),
    lts_only: tuple[int, ...] = (),
    preview: tuple[int, ...] = (),
    upgrades: tuple[str, ...] | None = None,
    **more: Any,
) -> ClusterVersions:
    """Return a cluster in a region that offers these minors; `lts_only` with long-term support only."""
    plan = more.get("support_plan", "KubernetesOfficial")
    mine = [minor for minor in minors if plan == LTS or minor not in lts_only]
    found = _upgrades(version, mine) if upgrades is None else upgrades
    return ClusterVersions(
        subscription="sub",
        resource_group="rg",
        name="aks",
        location="eastus",
        version=version,
        upgrades=tuple(Available(version=v, preview=_minor(v) in preview) for v in found),
        pools=pools,
        offered=tuple(
            Offered(
                version=patch,
                preview=minor in preview,
                support_plans=(LTS,) if minor in lts_only else BOTH,
                upgrades=_upgrades(patch, minors),
            )
            for minor in minors
            for patch in MINORS[minor]
        ),
        **more,
    )


def pool(name: str, version: str, count: int = 3, upgrades: tuple[str, ...] = (), **more: Any) -> PoolVersion:
    """Return a pool; `upgrades` is what Azure accepts for it now."""
    settings = more.pop("settings", {})
    return PoolVersion(
        name=name,
        version=version,
        count=count,
        vm_size=more.pop("vm_size", "Standard_D4s_v5"),
        upgrades=tuple(Available(version=v) for v in upgrades),
        settings=UpgradeSettings(**settings),
        **more,
    )


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _upgrades(version: str, minors: Any) -> tuple[str, ...]:
    mine = _minor(version)
    later = [minor for minor in minors if minor > mine][:1]
    return tuple(
        patch
        for minor in [*([mine] if mine in minors else []), *later]
        for patch in MINORS[minor]
        if [*map(int, patch.split("."))] > [*map(int, version.split("."))]
    )
