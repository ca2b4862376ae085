"""Pools as a parameter object, because an admission policy can't look up nodes or pools.

It is a custom resource, since the API server loses track of built-in kinds such as ConfigMap once no policy uses them
(docs/decisions/0016-admission.md).
"""

from collections.abc import Iterable
from typing import Any, Final

from aksgpu.facts.pools import PoolFacts
from aksgpu.knowledge.node_labels import labels_of, taints_of

KIND: Final = "GpuPools"
PLURAL: Final = "gpupools"
VERSION: Final = "v1"

_TEXT: Final = {"type": "string"}
_TAINT: Final = {
    "type": "object",
    "required": ["key", "effect"],
    "properties": {"key": _TEXT, "value": _TEXT, "effect": _TEXT},
}
_POOL: Final = {
    "type": "object",
    "required": ["name", "advertiser"],
    "properties": {
        "name": _TEXT,
        "advertiser": {
            "type": "string",
            "enum": ["dra", "device-plugin", "none"],
            "description": "What AKS runs on the nodes to offer their GPUs.",
        },
        "labels": {"type": "object", "additionalProperties": _TEXT, "description": "Labels that all nodes have."},
        "taints": {"type": "array", "items": _TAINT, "description": "Taints of the nodes."},
    },
}
SCHEMA: Final = {
    "type": "object",
    "description": "The node pools with GPUs, for admission policies, which can't look them up.",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["pools"],
            "properties": {"pools": {"type": "array", "items": _POOL}},
        }
    },
}


def pool_data(pools: Iterable[PoolFacts]) -> list[dict[str, Any]]:
    """Return the pools as the parameter object has them. Pools without a known name are left out."""
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
