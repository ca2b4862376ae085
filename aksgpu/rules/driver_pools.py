"""AKSGPU403, 404 and 409: the driver of each pool's nodes, between AKS and the GPU Operator."""

from collections.abc import Callable, Iterator

from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.stack import StackComponent
from aksgpu.facts.truth import Truth, Unknown, all_of, equals, is_true, not_, one_of
from aksgpu.knowledge.stack_values import OPERATORS, TOOLKIT, TOOLKIT_ENV
from aksgpu.rules.driver_profiles import effective
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Check, Rule, Verdict
from aksgpu.rules.placement import explain, lands_on
from aksgpu.rules.stack_checks import truth_of, variable
from aksgpu.rules.stacks import joined

_NEW_CONTAINERD = ("Ubuntu2404", "Ubuntu2604")
_GUIDE = "NVIDIA/aicr: AKS GPU setup, GPU Driver Setup; Microsoft Learn: Use GPUs on AKS, Skip GPU driver installation"
_CONFIG_SOURCE = "RUNTIME_CONFIG_SOURCE"


def _operator_on(component: GpuComponent, pool: PoolFacts, estate: Estate) -> Truth:
    """Tell whether a GPU Operator reaches the nodes of a pool that AKS leaves to it."""
    return all_of(
        is_true(component.enabled),
        has_gpus(pool),
        not_(equals(pool.os_type, "Windows")),
        not_(pool.is_managed()),
        lands_on(component, pool, estate),
    )


def _each(
    broken: Callable[[GpuComponent, PoolFacts], Truth], message: Callable[[GpuComponent, PoolFacts], str]
) -> Check:
    def check(estate: Estate) -> Iterator[Verdict]:
        operators = [item for item in estate.distinct_components() if item.product == "gpu-operator"]
        for component in operators:
            for pool in estate.pools_near(component.cluster):
                truth = all_of(_operator_on(component, pool, estate), broken(component, pool))
                if truth is True:
                    yield Verdict(message(component, pool), component.place)
                elif isinstance(truth, Unknown) and not (pool.malformed or component.malformed):
                    text = (
                        f"Whether the nodes of pool {pool.label} get their driver once can't be judged yet with "
                        f"{component.description}; the rule decides when the update runs."
                    )
                    yield Verdict(text, component.place, undecided=True)

    return check


def _no_driver(component: GpuComponent, pool: PoolFacts) -> Truth:
    return all_of(equals(pool.gpu_driver, "None"), not_(is_true(component.driver)))


def _no_driver_message(component: GpuComponent, pool: PoolFacts) -> str:
    return (
        f"The nodes of pool {pool.label} get no driver: gpuProfile.driver is None, and {component.description} doesn't "
        f"install one (driver.enabled is false). It runs there because {explain(component, pool)}."
    )


def _two_drivers(component: GpuComponent, pool: PoolFacts) -> Truth:
    return all_of(not_(equals(pool.gpu_driver, "None")), is_true(component.driver))


def _two_drivers_message(component: GpuComponent, pool: PoolFacts) -> str:
    given = f"is {pool.gpu_driver}" if pool.gpu_driver else "isn't set, which means Install"
    return (
        f"The nodes of pool {pool.label} get two drivers: gpuProfile.driver {given}, and {component.description} "
        f"installs its own (driver.enabled is true). It runs there because {explain(component, pool)}."
    )


def _config_source(estate: Estate) -> Iterator[Verdict]:
    software = {item.place.object: item for item in estate.components if item.product == "gpu-operator"}
    for one in joined(estate) if estate.pools else ():
        operator = one.stack.enabled(*OPERATORS)
        component = software.get(operator.place.object) if operator is not None else None
        if operator is None or component is None or operator.malformed:
            continue
        source = variable(operator, TOOLKIT_ENV, _CONFIG_SOURCE)
        unset = source if isinstance(source, Unknown) else source != "file"
        broken = all_of(unset, truth_of(effective(operator, TOOLKIT)))
        yield from _on_new_containerd(operator, component, broken, estate)


def _on_new_containerd(
    operator: StackComponent, component: GpuComponent, broken: Truth, estate: Estate
) -> Iterator[Verdict]:
    for pool in estate.pools_near(component.cluster):
        truth = all_of(broken, one_of(pool.os_sku, _NEW_CONTAINERD), _operator_on(component, pool, estate))
        if truth is True:
            text = (
                f"{component.description} configures containerd on pool {pool.label} ({pool.os_sku}) without "
                f"{_CONFIG_SOURCE}=file in {TOOLKIT_ENV}."
            )
            yield Verdict(text, operator.at(TOOLKIT_ENV))
        elif isinstance(truth, Unknown):
            text = f"Whether {component.description} breaks containerd on pool {pool.label} can't be judged yet."
            yield Verdict(text, operator.place, undecided=True)


_WAITS = "The finding is reported as undecided until the pool, the values and the placement are known."

DRIVERLESS_NODES = Rule(
    id="AKSGPU403",
    name="driverless-nodes",
    severity="error",
    summary="Every GPU node gets a driver from somebody.",
    why=(
        "With gpuProfile.driver None AKS installs nothing. If the GPU Operator doesn't either, its pods wait for a "
        "driver that never comes and the nodes offer no GPU."
    ),
    fix=(
        "Create the pool with gpuProfile.driver Install, which is the default; or let the operator own the driver: "
        "driver.enabled and toolkit.enabled true, operator.runtimeClass nvidia, nvidiaDriverRoot /run/nvidia/driver."
    ),
    source=f"{_GUIDE}; NVIDIA/aicr pull request 1756",
    on_unknown=_WAITS,
    check=_each(_no_driver, _no_driver_message),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)
POOL_DRIVER_MISMATCH = Rule(
    id="AKSGPU404",
    name="pool-driver-mismatch",
    severity="error",
    summary="A pool whose driver AKS installs gets no second one from the GPU Operator.",
    why=(
        "Two kernel drivers of different versions on one node replace each other's modules and libraries; GPU pods "
        "fail until the node is created anew."
    ),
    fix=(
        "Let AKS own the driver: driver.enabled and toolkit.enabled false, operator.runtimeClass "
        "nvidia-container-runtime, nvidiaDriverRoot /. Or create the pool with gpuProfile.driver None (az: "
        "--gpu-driver none), or keep the operator off it with daemonsets.nodeSelector."
    ),
    source=_GUIDE,
    on_unknown=_WAITS,
    check=_each(_two_drivers, _two_drivers_message),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)
TOOLKIT_CONFIG_SOURCE = Rule(
    id="AKSGPU409",
    name="toolkit-config-source",
    severity="warning",
    summary="The operator's toolkit reads containerd's configuration from its file on Ubuntu 24.04 and later.",
    why=(
        "Otherwise it takes the configuration from containerd itself and writes one of a newer format than the file "
        "has; containerd 2 refuses the two together, and the node becomes NotReady."
    ),
    fix="Add {name: RUNTIME_CONFIG_SOURCE, value: file} to toolkit.env.",
    source="NVIDIA/aicr issue 1688; NVIDIA/gpu-operator issue 2646",
    on_unknown=_WAITS,
    check=_config_source,
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (DRIVERLESS_NODES, POOL_DRIVER_MISMATCH, TOOLKIT_CONFIG_SOURCE)
