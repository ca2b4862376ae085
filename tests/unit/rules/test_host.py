"""What the stack does to hosts and to the network between them."""

from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.stack_components import changed
from aksgpu.readers.values import read_stack
from aksgpu.rules.book import judge

HOSTS, NET, OP = "nodewright-customizations", "network-operator", "gpu-operator"
KEYED = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def found(estate: Estate) -> dict[str, bool]:
    """The names of the broken rules about hosts, and whether each is decided."""
    return {item.rule.name: not item.verdict.undecided for item in judge(estate) if item.rule.id.startswith("AKSGPU50")}


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([KEYED], {}),
        ([KEYED, {"key": "sku", "value": "gpu"}], {}),
        (None, {"wildcard-toleration": True}),
        ([], {"wildcard-toleration": True}),
        ([{"operator": "Exists"}], {"wildcard-toleration": True}),
        ([KEYED, {"operator": "Exists", "effect": "NoExecute"}], {"wildcard-toleration": True}),
        ([{"key": "", "operator": "Exists"}], {"wildcard-toleration": True}),
        ([{"key": None, "operator": "Exists"}], {"wildcard-toleration": True}),
        (["nvidia.com/gpu"], {"wildcard-toleration": True}),
        (UNKNOWN, {"wildcard-toleration": False}),
        ([KEYED, UNKNOWN], {"wildcard-toleration": False}),
        ([UNKNOWN, {"operator": "Exists"}], {"wildcard-toleration": True}),
        ([{"key": UNKNOWN}], {"wildcard-toleration": False}),
        ("nvidia.com/gpu", {}),  # malformed, which is a finding of its own
    ],
)
def test_wildcard_toleration(tolerations: Any, expected: dict[str, bool]):
    assert found(read_stack({HOSTS: {"acceleratedTolerations": tolerations}})) == expected
    assert found(read_stack({HOSTS: {"acceleratedTolerations": tolerations, "enabled": False}})) == {}


MOFED_OFF = {"driver": {"rdma": {"useHostMofed": False}}}
OFF = {"enabled": False}
ON = {"acceleratedTolerations": [KEYED]}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({NET: OFF, OP: MOFED_OFF, HOSTS: OFF}, None),
        ({NET: {}, OP: {}, HOSTS: ON}, None),
        ({OP: {}}, None),
        ({NET: OFF, HOSTS: OFF}, None),
        ({NET: OFF, OP: {}, HOSTS: OFF}, "set gpu-operator driver.rdma.useHostMofed=false."),
        ({NET: OFF, OP: MOFED_OFF, HOSTS: ON}, "set nodewright-customizations enabled=false."),
        ({NET: OFF, OP: {}, HOSTS: ON}, "useHostMofed=false and nodewright-customizations enabled=false."),
        ({NET: OFF, OP: OFF, HOSTS: ON}, "set nodewright-customizations enabled=false."),
        ({NET: {}, OP: MOFED_OFF, HOSTS: OFF}, "nothing prepares the hosts"),
    ],
)
def test_opting_out_of_rdma_is_complete_or_not_at_all(values: dict[str, Any], says: str | None):
    said = [item.verdict.message for item in judge(read_stack(values)) if item.rule.name == "rdma-opt-out-incomplete"]
    assert len(said) == (says is not None)
    assert says is None or says in said[0]


def pools(*sizes: Any) -> Estate:
    form = PoolForm(kind="live")
    return Estate(
        pools=tuple(
            PoolFacts(place=Place(object=f"p{index}"), form=form, name=f"p{index}", vm_size=size)
            for index, size in enumerate(sizes)
        )
    )


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), {}),
        (("Standard_D4s_v5",), {}),
        (("Standard_ND96isr_H100_v5",), {}),
        (("Standard_ND96isr_H100_v5", "Standard_NC40ads_H100_v5"), {}),
        (("Standard_NC40ads_H100_v5", "Standard_D4s_v5"), {"no-infiniband": True}),
        (("standard_nc40ads_h100_v5",), {"no-infiniband": True}),
        (("Standard_NC40ads_H100_v5", UNKNOWN), {"no-infiniband": False}),
        (("Standard_ND999isr_X_v9",), {"no-infiniband": False}),
    ],
)
@pytest.mark.parametrize("component", [{NET: {}}, {HOSTS: ON}])
def test_rdma_needs_infiniband_somewhere(component: dict[str, Any], sizes: tuple[Any, ...], expected: dict[str, bool]):
    assert found(Estate.merge([read_stack(component), pools(*sizes)])) == expected
    switched_off = {name: {**values, "enabled": False} for name, values in component.items()}
    assert found(Estate.merge([read_stack(switched_off), pools(*sizes)])) == {}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"tuningEnabled": True}, {"tuningEnabled": False}, {"tuning-left-on-hosts": True}),
        ({}, {"tuningEnabled": False}, {"tuning-left-on-hosts": True}),
        ({}, None, {"tuning-left-on-hosts": True}),
        ({"tuningEnabled": True}, OFF, {"tuning-left-on-hosts": True}),
        (OFF, {"tuningEnabled": False}, {}),
        ({"tuningEnabled": False}, {"tuningEnabled": True}, {}),
        ({"tuningEnabled": False}, None, {}),
        ({"tuningEnabled": True}, {"tuningEnabled": True}, {}),
        ({"tuningEnabled": True}, {"tuningEnabled": UNKNOWN}, {"tuning-left-on-hosts": False}),
        ({"tuningEnabled": True}, {"tuningEnabled": "false"}, {}),  # malformed
    ],
)
def test_tuning_that_is_switched_off_stays_on_the_hosts(before: Any, after: Any, expected: dict[str, bool]):
    old = read_stack({HOSTS: {**before, **ON}})
    new = read_stack({HOSTS: {**after, **ON}} if after is not None else {})
    assert found(Estate.merge([new, Estate(stack_changes=changed(old, new))])) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"intent": "inference", "tuningEnabled": False}, {}),
        ({"intent": "inference", "tuningEnabled": True}, {"tuned-for-inference": True}),
        ({"intent": "inference"}, {"tuned-for-inference": True}),
        ({"intent": "multiNodeTraining"}, {}),
        ({}, {}),
        ({"intent": UNKNOWN}, {"tuned-for-inference": False}),
    ],
)
def test_tuning_slows_inference_down(values: dict[str, Any], expected: dict[str, bool]):
    assert found(read_stack({HOSTS: {**values, **ON}})) == expected
