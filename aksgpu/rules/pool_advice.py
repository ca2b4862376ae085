"""AKSGPU216 to 219 and 222 to 224: what is allowed for a GPU pool and often not meant."""

from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, all_of, equals, not_
from aksgpu.knowledge import gpu_sizes
from aksgpu.rules.checks import FAILS_OR_WAITS, each_pool, said
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Rule

_SIZE = ("management_mode", "driver_mode", "vm_size")
_SIZES = f"The table of GPU sizes as of {gpu_sizes.AS_OF:%Y-%m-%d}, aksgpu/knowledge/gpu_sizes.py"


def _keeps_nobody_away(pool: PoolFacts) -> Truth:
    if isinstance(pool.taints, Unknown):
        return UNKNOWN
    return all(taint.effect == "PreferNoSchedule" for taint in pool.taints or ())


NO_GPU_TAINT = Rule(
    id="AKSGPU216",
    name="no-gpu-taint",
    severity="warning",
    summary="The nodes of a GPU pool are tainted, so that only pods that need GPUs run there.",
    why=(
        "AKS adds no taint to GPU nodes. Ordinary pods fill them, keep them from scaling down, and leave pods that "
        "need GPUs without CPU and memory."
    ),
    fix="Set nodeTaints to ['sku=gpu:NoSchedule'] and give the GPU workloads the toleration.",
    source="Microsoft Learn: Use GPUs for compute-intensive workloads in AKS",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        # A system pool has to take ordinary pods, and AKS taints a Spot pool.
        lambda pool: all_of(
            has_gpus(pool),
            _keeps_nobody_away(pool),
            not_(equals(pool.mode, "System")),
            not_(equals(pool.scale_set_priority, "Spot")),
        ),
        lambda pool: f"Pool {pool.label} has GPUs and no taint that keeps ordinary pods away.",
        (*_SIZE, "taints", "mode", "scale_set_priority"),
    ),
    pillars=("Cost Optimization", "Performance Efficiency"),
)

SPOT_GPU_POOL = Rule(
    id="AKSGPU217",
    name="spot-gpu-pool",
    severity="info",
    summary="Nothing that has to keep running is on a Spot pool with GPUs.",
    why=(
        "Azure takes Spot nodes away within seconds whenever it needs the capacity, which for GPUs is often; a claim "
        "or a job on such a node is lost."
    ),
    fix=(
        "Use it for work that saves its state; let the pods tolerate kubernetes.azure.com/scalesetpriority=spot, and "
        "keep a pool of priority Regular for the rest."
    ),
    source="Microsoft Learn: Add an Azure Spot node pool to an AKS cluster",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(equals(pool.scale_set_priority, "Spot"), has_gpus(pool)),
        lambda pool: f"Pool {pool.label} has GPUs on Spot nodes ({pool.vm_size}).",
        (*_SIZE, "scale_set_priority"),
    ),
)


def _surges(pool: PoolFacts) -> Truth:
    if isinstance(pool.max_surge, Unknown):
        return UNKNOWN
    return pool.max_surge is None or pool.max_surge.strip().removesuffix("%") != "0"


GPU_POOL_SURGE = Rule(
    id="AKSGPU218",
    name="gpu-pool-surge",
    severity="info",
    summary="A GPU pool can be upgraded without spare GPU quota.",
    why=(
        "An upgrade first adds nodes (maxSurge, 10% when it isn't set, and at least one). Without spare quota and "
        "capacity for GPU nodes it fails before the first node is upgraded."
    ),
    fix=(
        "Set upgradeSettings.maxSurge to 0 and maxUnavailable to 1 or more, so that nodes are upgraded in place; or "
        "keep quota for the surge."
    ),
    source="Microsoft Learn: Upgrade options for AKS clusters, GPU node pools",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        # A system pool can't do without the surge.
        lambda pool: all_of(has_gpus(pool), _surges(pool), not_(equals(pool.mode, "System"))),
        lambda pool: (
            f"An upgrade of pool {pool.label} needs more nodes of {said(pool.vm_size, 'its size')} for a while "
            f"(maxSurge {said(pool.max_surge, 'is not set')})."
        ),
        (*_SIZE, "max_surge", "mode"),
    ),
    pillars=("Operational Excellence",),
)

GPU_SYSTEM_POOL = Rule(
    id="AKSGPU219",
    name="gpu-system-pool",
    severity="warning",
    summary="The system pods of a cluster don't run on GPU nodes.",
    why=(
        "A pool of mode System can't be scaled to zero, its nodes are upgraded with the system's pods on them, and "
        "CoreDNS and the like take CPU of expensive nodes."
    ),
    fix="Give the GPU pool mode User, and let a pool of an ordinary size be the system pool.",
    source="Microsoft Learn: Manage system node pools in AKS",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(equals(pool.mode, "System"), has_gpus(pool)),
        lambda pool: f"Pool {pool.label} has GPUs ({pool.vm_size}) and mode System.",
        (*_SIZE, "mode"),
    ),
    pillars=("Cost Optimization", "Reliability"),
)

INLINE_GPU_POOL = Rule(
    id="AKSGPU222",
    name="inline-gpu-pool",
    severity="warning",
    summary="A GPU pool is a resource of its own, not a part of its cluster.",
    why=(
        "Azure doesn't add, change or replace pools through the cluster once that exists: it refuses, or every pool is "
        "scaled at once. GPU settings can only be changed by replacing the pool."
    ),
    fix="Write the pool as an AgentPool (or aksgpu:index:NodePool), and only the system pool in agentPoolProfiles.",
    source="pulumi-azure-native, ManagedCluster; pulumi-azure-native issues 579 and 2719",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.form.kind == "inline", has_gpus(pool), not_(equals(pool.mode, "System"))),
        lambda pool: f"Pool {pool.label} has GPUs and is written in agentPoolProfiles of its cluster.",
        (*_SIZE, "mode"),
    ),
    pillars=("Operational Excellence",),
)


def _is_retired(pool: PoolFacts) -> Truth:
    if isinstance(pool.vm_size, Unknown):
        return UNKNOWN
    size = gpu_sizes.find(pool.vm_size or "")
    return size is not None and size.retired is not None


def _retired_message(pool: PoolFacts) -> str:
    size = gpu_sizes.find(str(pool.vm_size))
    return f"Pool {pool.label} has size {pool.vm_size}, which Azure retired on {size.retired if size else None}."


RETIRED_GPU_SIZE = Rule(
    id="AKSGPU223",
    name="retired-gpu-size",
    severity="warning",
    summary="A GPU pool's VM size is one that Azure still runs.",
    why="Azure stops the machines of a retired size and creates no new ones; such a pool can't be created or scaled.",
    fix="Move to a current size, for example Standard_NC24ads_A100_v4, with a new pool.",
    source=f"{_SIZES}; Azure: NCv3 retirement",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(_is_retired, _retired_message, ("vm_size",)),
)


def _shares(pool: PoolFacts) -> Truth:
    if isinstance(pool.vm_size, Unknown):
        return UNKNOWN
    size = gpu_sizes.find(pool.vm_size or "")
    return size is not None and size.shared


def _shared_message(pool: PoolFacts) -> str:
    size = gpu_sizes.find(str(pool.vm_size))
    what = f"{size.gpus:.2g} of a {size.model}" if size else "a share of one"
    return f"Pool {pool.label} offers as a whole GPU what {pool.vm_size} has: {what}."


DRA_ON_SHARED_GPU = Rule(
    id="AKSGPU224",
    name="dra-on-shared-gpu",
    severity="info",
    summary="Who claims a GPU of a DRA pool gets a whole one.",
    why=(
        "On these sizes the node sees one GPU that is a share of one, with a part of its memory, and a claim for a "
        "whole GPU is satisfied by it. They need the GRID driver, which AKS has from node image "
        f"{gpu_sizes.GRID_NODE_IMAGE} on."
    ),
    fix="Select by memory in the device class where it matters, and keep the node image current; or take a full size.",
    source=f"{_SIZES}; Azure/AKS issue 5785",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.asks_for_dra(), _shares(pool)), _shared_message, ("driver_mode", "vm_size")
    ),
    pillars=("Performance Efficiency",),
)

RULES = (
    NO_GPU_TAINT,
    SPOT_GPU_POOL,
    GPU_POOL_SURGE,
    GPU_SYSTEM_POOL,
    INLINE_GPU_POOL,
    RETIRED_GPU_SIZE,
    DRA_ON_SHARED_GPU,
)
