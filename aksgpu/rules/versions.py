"""AKSGPU10x: which Kubernetes versions can do it at all."""

from collections.abc import Iterator

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, any_of, is_true
from aksgpu.knowledge.kubernetes import GPU_STACK_MINIMUM, MANAGED_DRA_MINIMUM, Minor, parse_minor
from aksgpu.rules.checks import FAILS_OR_WAITS, each_pool, each_pool_in_cluster, named_or_only
from aksgpu.rules.model import Rule, Verdict

_SOURCE = "Microsoft Learn: Use dynamic resource allocation for NVIDIA GPUs in AKS (preview), Before you begin"
_WHY = (
    "AKS offers managed DRA from Kubernetes 1.35 on; an older node has no DRA driver to start, and its pods would stay "
    "pending."
)


def _too_old(version: Maybe[str], minimum: Minor = MANAGED_DRA_MINIMUM) -> Truth:
    if isinstance(version, Unknown):
        return UNKNOWN
    minor = parse_minor(version) if version else None
    # Text that isn't a version is refused by the reader; no version at all follows the cluster or AKS's default.
    return minor is not None and minor < minimum


def _pool_message(pool: PoolFacts) -> str:
    return (
        f"Pool {pool.label} asks for driver mode DRA on Kubernetes {pool.kubernetes_version}; it needs 1.35 or later."
    )


def _cluster_message(pool: PoolFacts, cluster: ClusterFacts) -> str:
    return (
        f"Pool {pool.label} asks for driver mode DRA in {cluster.label}, which runs Kubernetes "
        f"{cluster.kubernetes_version}; it needs 1.35 or later."
    )


DRA_POOL_VERSION = Rule(
    id="AKSGPU101",
    name="dra-pool-version",
    severity="error",
    summary="A DRA pool runs Kubernetes 1.35 or later.",
    why=_WHY,
    fix="Upgrade the control plane to 1.35 or later, one minor at a time, then create the pool at that version.",
    source=_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.asks_for_dra(), _too_old(pool.kubernetes_version)),
        _pool_message,
        ("driver_mode", "kubernetes_version"),
    ),
)

DRA_CLUSTER_VERSION = Rule(
    id="AKSGPU102",
    name="dra-cluster-version",
    severity="error",
    summary="A cluster with a DRA pool runs Kubernetes 1.35 or later.",
    why=_WHY,
    fix="Upgrade the control plane to 1.35 or later, one minor at a time, before adding the pool.",
    source=_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool_in_cluster(
        lambda pool, cluster: all_of(pool.asks_for_dra(), _too_old(cluster.kubernetes_version)),
        _cluster_message,
        ("driver_mode",),
        {"kubernetes_version": "kubernetesVersion"},
    ),
    prevents=("component", "preview"),
    detects=("update", "files"),
    across=True,
)


def _needs(estate: Estate) -> Iterator[tuple[ClusterRef, Place, str, Truth]]:
    """Yield what needs the newer API: a whole stack, or else each DRA driver by itself."""
    stacks = [stack for stack in estate.stacks if stack.complete and stack.components]
    for stack in stacks:
        switches = (component.enabled for component in stack.components)
        truth = any_of(*(UNKNOWN if isinstance(on, Unknown) else on is not False for on in switches))
        yield stack.cluster, stack.place, "the GPU stack in these values", truth
    for component in () if stacks else estate.distinct_components():
        if component.product == "dra-driver":
            truth = all_of(is_true(component.enabled), UNKNOWN if component.dra is UNKNOWN else True)
            yield component.cluster, component.place, component.description, truth


def _stack_check(estate: Estate) -> Iterator[Verdict]:
    for ref, place, what, present in _needs(estate):
        for cluster, meant in estate.clusters_of(ref):
            truth = all_of(
                meant, present, _too_old(cluster.kubernetes_version, GPU_STACK_MINIMUM), named_or_only(ref, estate)
            )
            if truth is True:
                yield Verdict(
                    f"{what[0].upper()}{what[1:]} needs Kubernetes {GPU_STACK_MINIMUM} or later; {cluster.label} runs "
                    f"{cluster.kubernetes_version}.",
                    place,
                )
            elif isinstance(truth, Unknown) and not cluster.malformed:
                text = (
                    f"Whether {what} goes to {cluster.label}, and whether that runs Kubernetes {GPU_STACK_MINIMUM} or"
                )
                yield Verdict(f"{text} later, isn't known yet.", place, undecided=True)


GPU_STACK_CLUSTER_VERSION = Rule(
    id="AKSGPU105",
    name="gpu-stack-cluster-version",
    severity="error",
    summary="A cluster with NVIDIA's DRA driver or GPU stack runs Kubernetes 1.34 or later.",
    why=(
        "They use the API resource.k8s.io/v1. On AKS an API server older than 1.34 doesn't serve it, so the driver "
        "publishes nothing and every claim waits."
    ),
    fix="Upgrade the cluster, one minor at a time (`aksgpu upgrade plan` lists the steps), then install the stack.",
    source="NVIDIA/aicr, recipes for AKS (K8s.server.version); Kubernetes, kube_features.go",
    on_unknown=FAILS_OR_WAITS,
    check=_stack_check,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (DRA_POOL_VERSION, DRA_CLUSTER_VERSION, GPU_STACK_CLUSTER_VERSION)
