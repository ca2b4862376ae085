"""Points pools at the cluster that a program makes them depend on, for when its name isn't known yet."""

from collections.abc import Collection, Iterable

from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN


def link(estate: Estate, dependencies: Iterable[str], clusters: Collection[str]) -> Estate:
    """Return the facts of a resource, its pools linked when exactly one cluster is among its dependencies.

    All are URNs; `clusters` are those of the whole stack.
    """
    if not estate.pools or estate.clusters:
        return estate
    owners = set(dependencies) & set(clusters)
    if len(owners) != 1:
        return estate
    ref = ClusterRef(name=UNKNOWN, resource_group=UNKNOWN, object=owners.pop())
    pools = tuple(
        pool if isinstance(pool.cluster.name, str) else pool.model_copy(update={"cluster": ref})
        for pool in estate.pools
    )
    return estate.model_copy(update={"pools": pools})
