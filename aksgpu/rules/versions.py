"""AKSGPU1xx: which Kubernetes versions can do it."""

from aksgpu.facts.clusters import ClusterFacts
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of
from aksgpu.knowledge.kubernetes import MANAGED_DRA_MINIMUM, parse_minor
from aksgpu.rules.checks import FAILS_OR_WAITS, each_pool, each_pool_in_cluster
from aksgpu.rules.model import Rule

_SOURCE = "Microsoft Learn: Use dynamic resource allocation for NVIDIA GPUs in AKS (preview), Before you begin"
_WHY = (
    "AKS offers managed DRA from Kubernetes 1.35 on; an older node has no DRA driver to start, and "
    "its pods would stay "
    "pending."
)


def _too_old(version: Maybe[str]) -> Truth:
    if isinstance(version, Unknown):
        return UNKNOWN
    minor = parse_minor(version) if version else None
    # Text that isn't a version is refused by the reader; no version at all follows the cluster or AKS's default.
    return minor is not None and minor < MANAGED_DRA_MINIMUM


def _pool_message(pool: PoolFacts) -> str:
    return (
        f"Pool {pool.label} asks for driver mode DRA on Kubernetes {pool.kubernetes_version}; it needs 1.35 or later."
    )


def _cluster_message(pool: PoolFacts, cluster: ClusterFacts) -> str:
    return (
        f"Pool {pool.label} asks for driver mode DRA in cluster {cluster.name}, which runs Kubernetes "
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

RULES = (DRA_POOL_VERSION, DRA_CLUSTER_VERSION)
