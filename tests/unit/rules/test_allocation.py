"""Who hands out the GPUs of a node: where it is said, and what is named."""

from typing import Any

from aksgpu.facts.base import Place
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Selection
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.rules.allocation import DUAL_ADVERTISEMENT, POOL_WITHOUT_ADVERTISER


def pool(name: str = "gpunp", **facts: Any) -> PoolFacts:
    given: dict[str, Any] = {"vm_size": "Standard_NC24ads_A100_v4", **facts}
    return PoolFacts(place=Place(object=name), form=PoolForm(kind="live"), name=name, **given)


def plugin(name: str, **facts: Any) -> GpuComponent:
    given: dict[str, Any] = {"device_plugin": True, **facts}
    return GpuComponent(place=Place(object=name), product="device-plugin", description=f"DaemonSet {name}", **given)


DRA = {"management_mode": "Managed", "driver_mode": "DRA"}


def test_on_a_managed_pool_each_component_is_the_one_that_has_to_go():
    estate = Estate(pools=(pool(**DRA),), components=(plugin("a"), plugin("b")))
    found = list(DUAL_ADVERTISEMENT.check(estate))
    assert [verdict.place.object for verdict in found] == ["a", "b"]
    assert all("3 advertisers" in verdict.message for verdict in found)


def test_on_an_unmanaged_pool_one_finding_names_them_all():
    estate = Estate(pools=(pool(),), components=(plugin("a"), plugin("b")))
    (verdict,) = DUAL_ADVERTISEMENT.check(estate)
    assert verdict.place.object == "a"
    for name in ("gpunp", "DaemonSet a", "DaemonSet b"):
        assert name in verdict.message


def test_the_labels_that_collide_are_named():
    selected = plugin("a", selection=Selection(labels={"gpu": "yes"}))
    estate = Estate(pools=(pool(labels={"gpu": "yes"}, **DRA), pool("other", **DRA)), components=(selected,))
    (verdict,) = DUAL_ADVERTISEMENT.check(estate)
    assert "pool gpunp" in verdict.message
    assert "gpu=yes" in verdict.message


def test_a_driver_for_compute_domains_only_is_no_advertiser():
    domains = GpuComponent(place=Place(object="d"), product="dra-driver", description="d", dra=False)
    assert list(DUAL_ADVERTISEMENT.check(Estate(pools=(pool(**DRA),), components=(domains,)))) == []


def test_a_pool_that_no_advertiser_reaches_is_named_with_the_reason():
    selected = plugin("a", selection=Selection(labels={"gpu": "yes"}))
    estate = Estate(pools=(pool(labels={"gpu": "yes"}), pool("other"), pool("dra", **DRA)), components=(selected,))
    (verdict,) = POOL_WITHOUT_ADVERTISER.check(estate)
    assert verdict.place.object == "other"
    assert "node selection (gpu)" in verdict.message


def test_a_component_that_is_switched_off_leaves_nobody_out():
    off = plugin("a", enabled=False, selection=Selection(labels={"gpu": "yes"}))
    assert list(POOL_WITHOUT_ADVERTISER.check(Estate(pools=(pool(),), components=(off,)))) == []
