"""Pools as a ConfigMap, because an admission policy can't look up nodes or pools.

CEL can't read JSON, so a pool is a text of lines, `WORD REST`, that policies search with string functions:

    advertiser dra
    label agentpool=gpunp
    taint sku=gpu:NoSchedule
"""

from collections.abc import Iterable, Iterator

from aksgpu.facts.pools import PoolFacts
from aksgpu.knowledge.node_labels import labels_of


def pool_data(pools: Iterable[PoolFacts]) -> dict[str, str]:
    """Return the data of the ConfigMap: lines by name of the pool. Pools without a known name are left out."""
    return {pool.name: "\n".join(_lines(pool)) for pool in pools if isinstance(pool.name, str)}


def _lines(pool: PoolFacts) -> Iterator[str]:
    yield f"advertiser {_advertiser(pool)}"
    for key, value in sorted(labels_of(pool).items()):
        yield f"label {key}={value}"
    for taint in pool.taints if isinstance(pool.taints, tuple) else ():
        yield f"taint {taint.key}={taint.value}:{taint.effect}"


def _advertiser(pool: PoolFacts) -> str:
    """Return what AKS runs on the pool to offer its GPUs: `dra`, `device-plugin`, or `none`."""
    if pool.asks_for_dra() is True:
        return "dra"
    return "device-plugin" if pool.is_managed() is True else "none"
