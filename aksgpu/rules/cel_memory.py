"""AKSGPU612: selectors that ask for more memory than a GPU reports."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import Unknown, known
from aksgpu.knowledge import gpu_sizes
from aksgpu.knowledge.device_cel import evaluate
from aksgpu.knowledge.dra import PRODUCTS, Product, sample_devices
from aksgpu.rules.cel import selector_lists, shown, waiting
from aksgpu.rules.checks import FAILS_OR_WAITS
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Rule, Verdict


def _never_true(estate: Estate) -> Iterator[Verdict]:
    for each in selector_lists(estate):
        if isinstance(each.expressions, Unknown):
            yield waiting(each)
            continue
        # A device has to satisfy the whole list.
        joined = " && ".join(f"({expression})" for expression in each.expressions or ())
        if "memory" not in joined:
            continue
        here = _products(estate, each.cluster)
        most = _too_much_memory(joined, here or PRODUCTS)
        if most:
            whose = "the GPUs of its cluster" if here else "the GPUs on Azure"
            where = each.place.at(each.path)
            yield Verdict(
                f"{where.object} selects {shown(joined)}, which none of {whose} has: {most.name} reports at most "
                f"{most.memory_mib} MiB ({most.memory_mib / 1024:.1f} GiB).",
                where,
            )


def _products(estate: Estate, cluster: ClusterRef) -> tuple[Product, ...]:
    """Return the products in the GPU pools of a cluster; nothing when that isn't certain."""
    found: list[Product] = []
    for pool in estate.pools_near(cluster):
        if has_gpus(pool) is False:
            continue
        size = gpu_sizes.find(pool.vm_size) if known(pool.vm_size) else None
        wanted = size and (size.model, size.gpu_memory_gib)
        same = [entry for entry in PRODUCTS if (entry.model, entry.memory_gib) == wanted]
        if not same:
            return ()
        found += same
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=4096)
def _too_much_memory(expression: str, products: tuple[Product, ...]) -> Product | None:
    """Return a product that the expression selects if it had more memory, when none is selected as it is."""
    if any(_selects(expression, device) for device in sample_devices(products, _REAL)):
        return None
    for product in sorted(products, key=lambda product: -product.memory_mib):
        if any(_selects(expression, device) for device in sample_devices((product,), _LARGER)):
            return product
    return None


def _selects(expression: str, device: Mapping[str, Any]) -> bool:
    return evaluate(expression, device).value is True


_REAL = tuple(step / 64 for step in range(64, 0, -1))
"""Shares of the most that a product reports: a GPU may report somewhat less, and its MIG devices much less."""
_LARGER = (1.005, 1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2, 4, 16)

CEL_NEVER_TRUE = Rule(
    id="AKSGPU612",
    name="cel-never-true",
    severity="warning",
    summary="Selectors ask for no more memory than the GPUs report.",
    why=(
        "A GPU reports less memory than its name says: an H100 of 80 GB reports 81559 MiB, which is 79.6 GiB. A "
        "selector for more than 80Gi never selects it, and the pod stays pending."
    ),
    fix="Ask for a little less than the size in the name, such as 79Gi for an H100 of 80 GB.",
    source="nvidia-smi on the GPUs of Azure; kubernetes-sigs/dra-driver-nvidia-gpu, capacity memory",
    on_unknown=FAILS_OR_WAITS,
    check=_never_true,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (CEL_NEVER_TRUE,)
