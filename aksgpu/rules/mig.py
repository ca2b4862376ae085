"""AKSGPU214 and 215: GPUs that are split with multi-instance GPU (MIG)."""

from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, any_of, equals, not_, one_of
from aksgpu.knowledge import gpu_sizes, node_pools
from aksgpu.rules.checks import FAILS_OR_WAITS, each_pool
from aksgpu.rules.gpu_pools import uses_mig
from aksgpu.rules.model import Rule

_SOURCE = "Azure REST API, Microsoft.ContainerService/managedClusters/agentPools, NvidiaGPUProfile"


def _written(value: Maybe[str] | Maybe[tuple[str, ...]]) -> Truth:
    return UNKNOWN if isinstance(value, Unknown) else bool(value)


def _many(pool: PoolFacts) -> Truth:
    return UNKNOWN if isinstance(pool.mig_profiles, Unknown) else len(pool.mig_profiles or ()) > 1


def _no_such_profile(pool: PoolFacts) -> Truth:
    if isinstance(pool.mig_profiles, Unknown):
        named = UNKNOWN
    else:
        named = any_of(*(not_(one_of(item, node_pools.MIG_PROFILES)) for item in pool.mig_profiles or ()))
    single = pool.gpu_instance_profile
    return any_of(named, all_of(_written(single), not_(one_of(single, node_pools.MIG_PROFILES))))


def _incoherent(pool: PoolFacts) -> Truth:
    listed, single = _written(pool.mig_profiles), _written(pool.gpu_instance_profile)
    splits = one_of(pool.mig_strategy, ("Single", "Mixed"))
    return any_of(
        _no_such_profile(pool),
        all_of(listed, single),
        all_of(splits, not_(listed), not_(single)),
        all_of(equals(pool.mig_strategy, "Single"), _many(pool)),
    )


def _settings(pool: PoolFacts) -> str:
    profiles = list(pool.mig_profiles) if isinstance(pool.mig_profiles, tuple) else pool.mig_profiles
    return f"migStrategy {pool.mig_strategy}, migProfiles {profiles}, gpuInstanceProfile {pool.gpu_instance_profile}"


MIG_PROFILES = Rule(
    id="AKSGPU214",
    name="mig-profiles",
    severity="error",
    summary="MIG strategy and MIG profiles of a pool fit together.",
    why=(
        "Single makes equal instances, so it needs exactly one profile; Mixed needs at least one. migProfiles and "
        "gpuInstanceProfile exclude each other, and AKS refuses a profile that doesn't exist."
    ),
    fix=(
        "Write one of migProfiles and gpuInstanceProfile: one profile for Single, one or more for Mixed, out of "
        f"{', '.join(node_pools.MIG_PROFILES)}. Without MIG write none and leave migStrategy out."
    ),
    source=_SOURCE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        _incoherent,
        lambda pool: f"Pool {pool.label} has {_settings(pool)}.",
        ("mig_strategy", "mig_profiles", "gpu_instance_profile"),
    ),
)


def _cannot_split(pool: PoolFacts) -> Truth:
    if isinstance(pool.vm_size, Unknown):
        return UNKNOWN
    size = gpu_sizes.find(pool.vm_size or "")
    if size is None:
        return pool.vm_size is not None and gpu_sizes.kind(pool.vm_size) == "no-nvidia"
    return size.mig is False


MIG_SIZE = Rule(
    id="AKSGPU215",
    name="mig-size",
    severity="error",
    summary="A pool with MIG has a VM size whose GPUs can be split.",
    why="Only some GPUs can be split into instances. On others the node's start-up fails, and no node is usable.",
    fix="Choose a size with A100, H100 or H200 GPUs, for example Standard_NC24ads_A100_v4, or remove the MIG settings.",
    source=f"{_SOURCE}; the table of GPU sizes as of {gpu_sizes.AS_OF:%Y-%m-%d}, aksgpu/knowledge/gpu_sizes.py",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(uses_mig(pool), _cannot_split(pool)),
        lambda pool: f"Pool {pool.label} has {_settings(pool)} on {pool.vm_size}, whose GPUs can't be split.",
        ("mig_strategy", "mig_profiles", "gpu_instance_profile", "vm_size"),
    ),
)

RULES = (MIG_PROFILES, MIG_SIZE)
