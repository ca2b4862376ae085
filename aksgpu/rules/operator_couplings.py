"""AKSGPU406 to 408: values of the GPU Operator and of other charts that only work together."""

from collections.abc import Iterator

from aksgpu.facts.stack import StackFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, all_of, not_
from aksgpu.knowledge.stack_values import (
    ASSUME_DRIVER,
    COLLECTOR_RUNTIME_CLASS,
    DRA_DRIVERS,
    DRIVER,
    EVICTION_ENV,
    HOST_MOFED,
    OPERATORS,
    PLUGIN_SELECTOR,
    RUNTIME_CLASS,
)
from aksgpu.rules.driver_profiles import effective
from aksgpu.rules.model import Verdict
from aksgpu.rules.stack_checks import decided, stack_rule, truth_of, variable

_EVICTION_VARIABLE = "NODE_LABEL_FOR_GPU_POD_EVICTION"
_EVICTION_LABEL = "nvidia.com/dra-kubelet-plugin"


def _host_mofed(stack: StackFacts) -> Iterator[Verdict]:
    operator = stack.enabled(*OPERATORS)
    if operator is None or operator.malformed_at(HOST_MOFED) is not None:
        return
    given = effective(operator, HOST_MOFED)
    truth = given if isinstance(given, bool | Unknown) else False
    inert = effective(operator, DRIVER) is False
    note = " It does nothing while driver.enabled is false, and breaks the day that changes." if inert else ""
    text = f"{HOST_MOFED} of {operator.name} is true, and AKS nodes have no MOFED of their own.{note}"
    yield from decided(truth, text, operator.at(HOST_MOFED), f"{HOST_MOFED} of {operator.name}")


def _nvsentinel(stack: StackFacts) -> Iterator[Verdict]:
    operator, sentinel = stack.enabled(*OPERATORS), stack.enabled("nvsentinel")
    if operator is None or sentinel is None or operator.malformed or sentinel.malformed:
        return
    driver, assumed = truth_of(effective(operator, DRIVER)), truth_of(effective(sentinel, ASSUME_DRIVER))
    text = (
        f"{ASSUME_DRIVER} of nvsentinel is not true while {DRIVER} of {operator.name} is false: it looks for a driver "
        "pod that never comes, and runs nowhere."
    )
    truth = all_of(not_(driver), not_(assumed))
    yield from decided(truth, text, sentinel.at(ASSUME_DRIVER), f"{DRIVER} or {ASSUME_DRIVER}")
    ours, theirs = effective(operator, RUNTIME_CLASS), effective(sentinel, COLLECTOR_RUNTIME_CLASS)
    differ: Truth = ours != theirs
    if isinstance(ours, Unknown):
        differ = ours
    elif isinstance(theirs, Unknown):
        differ = theirs
    text = (
        f"{COLLECTOR_RUNTIME_CLASS} of nvsentinel is {theirs} and {RUNTIME_CLASS} of {operator.name} is {ours}: the "
        "first names a runtime class that doesn't exist, so its pods can't be created."
    )
    place = sentinel.at(COLLECTOR_RUNTIME_CLASS)
    yield from decided(differ, text, place, f"{RUNTIME_CLASS} or {COLLECTOR_RUNTIME_CLASS}")


def _eviction(stack: StackFacts) -> Iterator[Verdict]:
    operator, driver = stack.enabled(*OPERATORS), stack.enabled(*DRA_DRIVERS)
    if operator is None or driver is None or operator.malformed or driver.malformed:
        return
    label = variable(operator, EVICTION_ENV, _EVICTION_VARIABLE)
    selector = driver.labels.get(PLUGIN_SELECTOR) or {}
    installs = truth_of(effective(operator, DRIVER))
    if isinstance(label, Unknown) or isinstance(selector, Unknown) or isinstance(installs, Unknown):
        if installs is not False:
            yield from decided(UNKNOWN, "", operator.place, f"{EVICTION_ENV} and {PLUGIN_SELECTOR}")
        return
    if not installs:
        return
    if label is not None and label.partition("=")[0] not in selector:
        text = (
            f"{_EVICTION_VARIABLE} of {operator.name} is {label}, which {PLUGIN_SELECTOR} of {driver.name} doesn't ask "
            "for."
        )
        yield Verdict(text, operator.at(EVICTION_ENV))
    elif label is None and _EVICTION_LABEL in selector:
        text = (
            f"{PLUGIN_SELECTOR} of {driver.name} asks for {_EVICTION_LABEL}, and {operator.name} has no "
            f"{_EVICTION_VARIABLE}."
        )
        yield Verdict(text, driver.at(PLUGIN_SELECTOR))


HOST_MOFED_RULE = stack_rule(
    "AKSGPU406",
    "host-mofed",
    _host_mofed,
    summary="The operator's driver doesn't rely on RDMA modules of the node.",
    why=(
        "On AKS the RDMA modules come from the network operator's container. Built against the node's own, "
        "nvidia-peermem doesn't match their symbols and can't be loaded."
    ),
    fix="Set driver.rdma.useHostMofed to false.",
    source="NVIDIA/aicr: AKS GPU setup, GPU Driver Setup; NVIDIA/aicr pull request 1680",
)
NVSENTINEL_COUPLING = stack_rule(
    "AKSGPU407",
    "nvsentinel-coupling",
    _nvsentinel,
    summary="NVSentinel looks for the driver where the GPU Operator's values put it.",
    why=(
        "It takes a driver for present when it sees the operator's driver pod, and runs its collectors with a runtime "
        "class by name. Neither exists unless the values of both charts agree."
    ),
    fix=(
        "With driver.enabled false set labeler.assumeDriverInstalled to true, and always set "
        "metadata-collector.runtimeClassName to the operator's operator.runtimeClass."
    ),
    source="NVIDIA/aicr issues 2175 and 2176",
)
DRA_EVICTION_LABEL = stack_rule(
    "AKSGPU408",
    "dra-eviction-label",
    _eviction,
    severity="warning",
    summary="Before a driver upgrade the operator can move the DRA driver off the node.",
    why=(
        "The operator empties a node by changing a label that GPU pods select. If only one side knows the label, the "
        "DRA driver keeps the old driver in use and the upgrade hangs, or it never starts."
    ),
    fix=(
        "Set NODE_LABEL_FOR_GPU_POD_EVICTION in driver.manager.env of the operator and the same label in "
        "kubeletPlugin.nodeSelector of the DRA driver, and give the label to the pools; or leave out both."
    ),
    source="NVIDIA/aicr issues 1253, 1704 and 2456",
)

RULES = (HOST_MOFED_RULE, NVSENTINEL_COUPLING, DRA_EVICTION_LABEL)
