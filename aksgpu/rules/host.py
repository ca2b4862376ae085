"""AKSGPU5xx: what the stack does to the hosts, and to the network between them."""

from collections.abc import Iterator, Mapping

from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.stack import StackChange, StackComponent, StackFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, all_of, any_of, not_
from aksgpu.knowledge import gpu_sizes
from aksgpu.knowledge.stack_values import ACCELERATED_TOLERATIONS, HOST_MOFED, INTENT, OPERATORS, TUNING
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import same_cluster
from aksgpu.rules.stack_checks import decided, stack_rule
from aksgpu.rules.stacks import joined

_GUIDE = "NVIDIA/aicr: AKS GPU setup, InfiniBand RDMA Host Setup"


def _customizations(stack: StackFacts) -> StackComponent | None:
    """Return the component that changes hosts, unless it has a malformed value, which is a finding of its own."""
    found = stack.enabled("nodewright-customizations")
    return found if found is not None and not found.malformed else None


def _wildcard(stack: StackFacts) -> Iterator[Verdict]:
    component = _customizations(stack)
    if component is None:
        return
    entries = component.lists.get(ACCELERATED_TOLERATIONS)
    text = (
        f"{ACCELERATED_TOLERATIONS} of {component.name} has a toleration without a key, which tolerates everything."
        if isinstance(entries, tuple) and entries
        else f"{component.name} has no {ACCELERATED_TOLERATIONS}, and is then given one that tolerates everything."
    )
    place = component.at(ACCELERATED_TOLERATIONS)
    yield from decided(_tolerates_everything(entries), text, place, f"{ACCELERATED_TOLERATIONS} of {component.name}")


def _tolerates_everything(entries: tuple[object, ...] | Unknown | None) -> Truth:
    if isinstance(entries, Unknown):
        return UNKNOWN
    return any_of(*(_without_key(entry) for entry in entries)) if entries else True


def _without_key(entry: object) -> Truth:
    if isinstance(entry, Unknown):
        return UNKNOWN
    key = entry.get("key") if isinstance(entry, Mapping) else None
    return UNKNOWN if isinstance(key, Unknown) else not key


def _tunes(component: StackComponent) -> Truth:
    """Tell whether a component tunes the kernel; it does unless it is told not to."""
    tuning = component.flags.get(TUNING)
    return all_of(
        _on(component),
        UNKNOWN if isinstance(tuning, Unknown) else tuning is not False,
    )


def _left_tuned(estate: Estate) -> Iterator[Verdict]:
    for change in estate.stack_changes:
        yield from _left_by(change)


def _left_by(change: StackChange) -> Iterator[Verdict]:
    before, after = change.before, change.after
    if after.name != "nodewright-customizations" or before.malformed or after.malformed:
        return
    text = (
        f"{after.name} no longer tunes the hosts ({TUNING} was on). What it has done to them stays: kernel arguments, "
        "huge pages, isolated CPUs."
    )
    truth = all_of(_tunes(before), not_(_tunes(after)))
    yield from decided(truth, text, after.at(TUNING), f"{TUNING} of {after.name}")


def _opt_out(stack: StackFacts) -> Iterator[Verdict]:
    network, hosts = stack.component("network-operator"), stack.component("nodewright-customizations")
    if network is None:
        return
    left: list[tuple[Truth, str]] = []
    operator = stack.enabled(*OPERATORS)
    if operator is not None:
        mofed = operator.flags.get(HOST_MOFED)
        unset = UNKNOWN if isinstance(mofed, Unknown) else mofed is not False
        left.append((unset, f"{operator.name} {HOST_MOFED}=false"))
    if hosts is not None:
        left.append((_on(hosts), f"{hosts.name} enabled=false"))
    rest = " and ".join(text for truth, text in left if truth is not False)
    text = f"network-operator is switched off and the rest of the RDMA stack isn't; set {rest}."
    truth = all_of(not_(_on(network)), any_of(*(truth for truth, _ in left)))
    yield from decided(truth, text, network.place, f"whether network-operator is on, and {rest}")
    if hosts is not None and hosts.enabled is False and network.enabled is True:
        text = (
            f"{hosts.name} is switched off and network-operator isn't: nothing prepares the hosts for RDMA (memory "
            "limits, kernel modules)."
        )
        yield Verdict(text, hosts.place)


def _on(component: StackComponent) -> Truth:
    return UNKNOWN if isinstance(component.enabled, Unknown) else component.enabled is not False


def _no_infiniband(estate: Estate) -> Iterator[Verdict]:
    for one in joined(estate):
        component = one.stack.enabled("network-operator") or _customizations(one.stack)
        if component is None:
            continue
        pools = [pool for pool in estate.pools_near(one.stack.cluster) if _may_have_gpus_in(one.stack, pool, estate)]
        if not pools:
            continue
        truth = all_of(*(not_(_infiniband(pool)) for pool in pools))
        sizes = ", ".join(f"{pool.label} ({pool.vm_size})" for pool in pools)
        text = f"{component.name} sets up RDMA over InfiniBand, and no GPU pool of the cluster has it: {sizes}."
        yield from decided(truth, text, component.place, "the VM size of every GPU pool and whether it has InfiniBand")


def _may_have_gpus_in(stack: StackFacts, pool: PoolFacts, estate: Estate) -> bool:
    return all_of(has_gpus(pool), same_cluster(stack.cluster, pool.cluster, estate)) is not False


def _infiniband(pool: PoolFacts) -> Truth:
    size = gpu_sizes.find(pool.vm_size) if isinstance(pool.vm_size, str) else None
    return UNKNOWN if size is None or size.infiniband is None else size.infiniband


def _slow_inference(stack: StackFacts) -> Iterator[Verdict]:
    component = _customizations(stack)
    if component is None:
        return
    intent = component.texts.get(INTENT)
    tuned_for_it: Truth = UNKNOWN if isinstance(intent, Unknown) else intent == "inference"
    text = f"{component.name} tunes the hosts for inference: {TUNING} isn't false and {INTENT} is inference."
    truth = all_of(tuned_for_it, _tunes(component))
    yield from decided(truth, text, component.at(TUNING), f"{INTENT} and {TUNING} of {component.name}")


WILDCARD_TOLERATION = stack_rule(
    "AKSGPU501",
    "wildcard-toleration",
    _wildcard,
    summary="Pods that change AKS hosts tolerate named taints only.",
    why=(
        "AKS reduces a pod's tolerations to the wildcard when there is one. Nodewright then no longer sees that its "
        "own pods may stay during a drain, and the first package with a reboot waits for itself until somebody cordons "
        "and reboots the node by hand."
    ),
    fix=(
        "Set acceleratedTolerations to the taint of the GPU pools, for example {key: nvidia.com/gpu, operator: Exists, "
        "effect: NoSchedule} (aicr: --accelerated-node-toleration nvidia.com/gpu:NoSchedule). Without RDMA switch "
        "nodewright-customizations off."
    ),
    source=f"{_GUIDE}; NVIDIA/aicr pull request 1698; NVIDIA/nodewright issue 296",
)
TUNING_LEFT_ON_HOSTS = Rule(
    id="AKSGPU502",
    name="tuning-left-on-hosts",
    severity="warning",
    summary="Tuning that is switched off is also taken off the hosts.",
    why=(
        "Switching it off only leaves the package out of the next run. Nothing undoes kernel arguments and huge pages, "
        "so old nodes stay tuned and new ones aren't."
    ),
    fix="Recreate or reimage the GPU pools after the change.",
    source=f"{_GUIDE}; NVIDIA/aicr issue 1820",
    on_unknown="The finding is reported as undecided until the value before and after the change is known.",
    check=_left_tuned,
    prevents=(),
    detects=("files",),
)
RDMA_OPT_OUT_INCOMPLETE = stack_rule(
    "AKSGPU503",
    "rdma-opt-out-incomplete",
    _opt_out,
    severity="warning",
    in_programs=False,
    summary="The RDMA stack is switched off as a whole, or not at all.",
    why=(
        "Network operator, host preparation and the driver's RDMA modules belong together. What is left of them waits "
        "for the rest, reboots nodes for nothing, or loads modules that don't fit."
    ),
    fix=(
        "Switch off network-operator and nodewright-customizations, and set driver.rdma.useHostMofed of gpu-operator "
        "to false in words; or switch all on."
    ),
    source=f"{_GUIDE}; NVIDIA/aicr, CheckHostMofedWithoutNetworkOperator",
)
NO_INFINIBAND = Rule(
    id="AKSGPU504",
    name="no-infiniband",
    severity="warning",
    summary="The RDMA stack is installed where some GPU pool has InfiniBand.",
    why=(
        "Without InfiniBand it brings nothing, and still reboots nodes, holds memory and makes workloads that ask for "
        "an RDMA device wait."
    ),
    fix=(
        "Leave out network-operator and nodewright-customizations and set driver.rdma.useHostMofed to false, or use a "
        "VM size with InfiniBand: the ND sizes with an r in their name, such as Standard_ND96isr_H100_v5."
    ),
    source=f"{_GUIDE} (RDMA opt-out); Azure: Set up InfiniBand on HPC VMs",
    on_unknown="A pool whose size isn't known yet, or isn't in the table of sizes, may have InfiniBand.",
    check=_no_infiniband,
    pillars=("Cost Optimization",),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)
TUNED_FOR_INFERENCE = stack_rule(
    "AKSGPU505",
    "tuned-for-inference",
    _slow_inference,
    severity="warning",
    summary="Hosts for inference on AKS stay untuned.",
    why=(
        "Measured on AKS with H100, the tuning profile for inference (isolated CPUs, huge pages) raised the time to "
        "the first token from about half a second to six seconds."
    ),
    fix="Set tuningEnabled to false, and recreate pools that were tuned.",
    source="NVIDIA/aicr issue 1766; NVIDIA/aicr: AKS GPU setup",
)

RULES = (WILDCARD_TOLERATION, TUNING_LEFT_ON_HOSTS, RDMA_OPT_OUT_INCOMPLETE, NO_INFINIBAND, TUNED_FOR_INFERENCE)
