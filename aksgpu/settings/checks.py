"""What the keys of a configuration must be together. What holds for pools and clusters is asked of the rule book."""

from collections.abc import Iterable, Iterator

from aksgpu.facts.base import Place, shown
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.knowledge import gpu_sizes
from aksgpu.knowledge.kubernetes import MANAGED_DRA_MINIMUM, RELEASES, parse_minor
from aksgpu.rules.book import judge
from aksgpu.settings.messages import did_you_mean, path
from aksgpu.settings.model import PoolSettings, Settings


def problems(settings: Settings) -> list[str]:
    """Return one paragraph for each thing that can't work."""
    return [*_cluster(settings), *_pools(settings), *_namespaces(settings), *_validation(settings), *_rules(settings)]


def estate(settings: Settings) -> Estate:
    """Return what the settings ask for as facts."""
    create = settings.cluster.create
    where = create or settings.cluster.use
    ref = ClusterRef(name=where.name, resource_group=where.resource_group) if where else ClusterRef()
    clusters = ()
    if create is not None:
        clusters = (
            ClusterFacts(
                place=Place(object=path(["cluster", "create"])),
                name=create.name,
                resource_group=create.resource_group,
                kubernetes_version=create.kubernetes_version,
            ),
        )
    return Estate(
        clusters=clusters,
        pools=tuple(_facts(pool, ref, path(["pools", index])) for index, pool in enumerate(settings.pools)),
    )


def _facts(pool: PoolSettings, cluster: ClusterRef, place: str) -> PoolFacts:
    profile = pool.gpu_profile
    return PoolFacts(
        place=Place(object=place),
        form=PoolForm(kind="settings"),
        cluster=cluster,
        name=pool.name,
        vm_size=pool.vm_size,
        count=pool.count,
        autoscaling=False,
        os_sku=pool.os_sku,
        scale_set_priority="Spot" if pool.spot else None,
        labels=pool.labels,
        gpu_driver=profile.driver if profile else None,
        management_mode=profile.management_mode if profile else None,
        driver_mode=profile.driver_mode if profile else None,
    )


def _rules(settings: Settings) -> Iterator[str]:
    for finding in judge(estate(settings)):
        if finding.severity == "error":
            yield f"{finding.verdict.place.object}: {finding.verdict.message} {finding.rule.fix} ({finding.rule.id})"


def _cluster(settings: Settings) -> Iterator[str]:
    given = [name for name in ("create", "use") if getattr(settings.cluster, name) is not None]
    if len(given) != 1:
        state = "both create and use" if given else "neither create nor use"
        yield (
            f"{path(['cluster'])} has {state}; it has to have exactly one: create for a cluster that this stack owns, "
            "use for one that exists."
        )
    create = settings.cluster.create
    minor = parse_minor(create.kubernetes_version) if create is not None else None
    if create is not None and minor is not None and minor < RELEASES[0].minor:
        yield (
            f"{path(['cluster', 'create', 'kubernetesVersion'])} is {shown(create.kubernetes_version)}, a version that "
            f"AKS no longer offers; managed DRA needs {MANAGED_DRA_MINIMUM} or later."
        )


def _pools(settings: Settings) -> Iterator[str]:
    yield from _duplicates("pools", [pool.name for pool in settings.pools])
    for index, pool in enumerate(settings.pools):
        if pool.kind != "cpu":
            yield from _gpu_size(pool, path(["pools", index, "vmSize"]))


def _gpu_size(pool: PoolSettings, where: str) -> Iterator[str]:
    kind = gpu_sizes.kind(pool.vm_size)
    if kind == "nvidia" or (kind == "no-nvidia" and pool.gpu_profile and pool.gpu_profile.driver_mode):
        return  # AKSGPU211 speaks about managed pools on sizes without GPUs
    similar = gpu_sizes.near(pool.vm_size) or ["Standard_NC24ads_A100_v4", "Standard_NC40ads_H100_v5"]
    what = "has no NVIDIA GPUs" if kind == "no-nvidia" else "is not a GPU size that is known"
    yield (
        f"{where} is {shown(pool.vm_size)}, which {what}; the kind {pool.kind} needs a size with NVIDIA GPUs, for "
        f"example {', '.join(similar)}."
    )


def _namespaces(settings: Settings) -> Iterator[str]:
    yield from _duplicates("namespaces", [space.name for space in settings.namespaces])
    for index, space in enumerate(settings.namespaces):
        yield from _duplicates(f"namespaces[{index}].claims", [claim.name for claim in space.claims])
        yield from _duplicates(f"namespaces[{index}].claimTemplates", [item.name for item in space.claim_templates])


def _duplicates(where: str, names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield f"{path([where, index, 'name'])} is {shown(name)}, which an earlier entry has; names must differ."
        seen.add(name)


def _validation(settings: Settings) -> Iterator[str]:
    job = settings.validation
    if job is None:
        return
    spaces = {space.name: space for space in settings.namespaces}
    pools = [pool.name for pool in settings.pools if pool.kind == "managed-dra"]
    if job.namespace not in spaces:
        yield _undeclared(["validation", "namespace"], job.namespace, "a namespace", list(spaces))
    else:
        claims = [claim.name for claim in spaces[job.namespace].claims]
        if job.claim not in claims:
            yield _undeclared(["validation", "claim"], job.claim, f"a claim of namespace {job.namespace}", claims)
    if job.pool not in pools:
        yield _undeclared(["validation", "pool"], job.pool, "a pool of kind managed-dra", pools)
    elif not any(pool.count for pool in settings.pools if pool.name == job.pool):
        yield f"{path(['validation', 'pool'])} is {shown(job.pool)}, which has count 0; the Job needs a node of it."


def _undeclared(where: list[str | int], given: str, what: str, declared: list[str]) -> str:
    names = ", ".join(declared) or "none"
    return (
        f"{path(where)} is {shown(given)}, which isn't {what} here. Declared: {names}.{did_you_mean(given, declared)}"
    )
