"""Pools as CEL, because an admission policy can't look up nodes or pools.

They are a variable of each policy that asks about pools, and no parameter object: the API server has trouble with those
(docs/decisions/0016-admission.md).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aksgpu.facts.pools import PoolFacts
from aksgpu.knowledge.node_labels import labels_of, taints_of


def pools_expression(pools: Sequence[Mapping[str, Any]]) -> str:
    """Return pools as a list of CEL, a pool a line. Values are `dyn`, because CEL wants those of a map alike."""
    return f"[{','.join(f'{chr(10)}  {_expression(pool)}' for pool in pools)}]"


def _expression(pool: Mapping[str, Any]) -> str:
    entries = (f"{json.dumps(key)}: dyn({json.dumps(value)})" for key, value in pool.items())
    return f"{{{', '.join(entries)}}}"


def pool_data(pools: Iterable[PoolFacts]) -> list[dict[str, Any]]:
    """Return what policies ask about pools. Pools without a known name are left out."""
    return [_pool(pool.name, pool) for pool in pools if isinstance(pool.name, str)]


def _pool(name: str, pool: PoolFacts) -> dict[str, Any]:
    taints = taints_of(pool)
    known = taints if isinstance(taints, tuple) else ()
    return {
        "name": name,
        "advertiser": _advertiser(pool),
        "labels": dict(sorted(labels_of(pool).items())),
        "taints": [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in known],
    }


def _advertiser(pool: PoolFacts) -> str:
    if pool.asks_for_dra() is True:
        return "dra"
    return "device-plugin" if pool.is_managed() is True else "none"
