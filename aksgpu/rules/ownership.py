"""AKSGPU4xx: who owns the GPU software of a node."""

from collections.abc import Iterator

from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import Truth, Unknown, all_of, any_of, is_true
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import explain, lands_on


def _brings_a_stack(component: GpuComponent) -> Truth:
    """A bare device plugin advertises but owns nothing on the node; that is AKSGPU301's business."""
    owns = any_of(is_true(component.driver), is_true(component.toolkit), component.product != "device-plugin")
    return all_of(is_true(component.enabled), owns)


def _check(estate: Estate) -> Iterator[Verdict]:
    for pool in estate.pools:
        for component in estate.components_near(pool.cluster):
            truth = all_of(pool.is_managed(), _brings_a_stack(component), lands_on(component, pool, estate))
            if truth is True:
                yield Verdict(_message(component, pool), component.place)
            elif isinstance(truth, Unknown) and not (pool.malformed or component.malformed):
                yield Verdict(
                    f"Whether {component.description} lands on a managed pool ({pool.label}) can't be judged yet; "
                    "the "
                    "rule decides when the update runs.",
                    component.place,
                    undecided=True,
                )


def _message(component: GpuComponent, pool: PoolFacts) -> str:
    parts = [
        text
        for text, part in (
            ("driver", component.driver),
            ("container toolkit", component.toolkit),
            ("device plugin", component.device_plugin),
            ("DRA driver", component.dra),
        )
        if part is True
    ]
    brings = f" with its {', '.join(parts)}" if parts else ""
    reason = explain(component, pool)
    return f"{component.description}{brings} would run on pool {pool.label}, which AKS manages: {reason}."


MANAGED_POOL_WITH_UNMANAGED_STACK = Rule(
    id="AKSGPU401",
    name="managed-pool-with-unmanaged-stack",
    severity="error",
    summary="A managed GPU pool runs only the GPU software that AKS installs.",
    why=(
        "On a managed pool AKS owns the driver, its monitoring and the advertiser. A second stack "
        "replaces or duplicates "
        "them, and either side's next update breaks the other."
    ),
    fix=(
        "Keep the component off the pool (node selector, or a taint that it doesn't tolerate; for the "
        "GPU Operator the "
        "node label nvidia.com/gpu.deploy.operands=false), or make the pool unmanaged and let the stack "
        "own all of it."
    ),
    source="Microsoft Learn: AKS-managed GPU node pools (preview); NVIDIA/aicr, AKS GPU setup guide",
    on_unknown="The finding is reported as undecided until the pool's mode and the component's placement are known.",
    check=_check,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (MANAGED_POOL_WITH_UNMANAGED_STACK,)
