"""What a person should know before an upgrade."""

from datetime import date

import pytest

from aksgpu.facts.upgrades import ClusterVersions
from aksgpu.upgrade.plan import plan
from tests.unit.upgrade.clusters import LTS, cluster, pool

A100 = "Standard_NC24ads_A100_v4"


def warned(state: ClusterVersions, to: str = "1.36", day: date = date(2026, 7, 15)) -> str:
    return "\n".join(plan(state, to, day).warnings)


@pytest.mark.parametrize(
    ("day", "said"),
    [
        (date(2026, 5, 1), None),
        (date(2026, 5, 3), "Support for Kubernetes 1.33 (the control plane, pool sys) ends on 2026-07-31, in 89 days."),
        (date(2026, 7, 31), "ends on 2026-07-31, in 0 days."),
        (date(2026, 8, 1), "Kubernetes 1.33 (the control plane, pool sys) has been out of support since 2026-07-31."),
    ],
)
def test_the_end_of_support(day: date, said: str | None):
    text = warned(cluster("1.33.8", pool("sys", "1.33.8")), day=day)
    assert (said in text) if said else ("1.33" not in text)


def test_long_term_support_is_the_way_to_stay_and_is_not_offered_to_those_who_have_it():
    day = date(2026, 9, 1)
    assert "With long-term support it is supported until 2027-07-31: `az aks update" in warned(
        cluster("1.33.8"), day=day
    )
    assert warned(cluster("1.33.8", support_plan=LTS), day=day) == ""
    assert "until 2027-07-31: `az" not in warned(cluster("1.33.8"), day=date(2027, 8, 1))


def test_a_target_that_ends_soon():
    assert "Support for Kubernetes 1.36 (the target) ends on 2027-06-30" in warned(
        cluster("1.35.4"), day=date(2027, 6, 1)
    )


def test_a_pool_on_an_older_minor_is_named():
    text = warned(cluster("1.35.4", pool("old", "1.33.8", upgrades=("1.34.5",))))
    assert "Kubernetes 1.33 (pool old) ends on 2026-07-31" in text


@pytest.mark.parametrize(
    ("state", "said"),
    [("Failed", "Pool work is in the state Failed: the next request"), ("Upgrading", "state Upgrading: wait until")],
)
def test_states_that_are_not_right(state: str, said: str):
    assert said in warned(cluster("1.35.4", pool("work", "1.35.4", provisioning_state=state)))
    assert f"The cluster is in the state {state}" in warned(cluster("1.35.4", provisioning_state=state))


def test_gpu_nodes_that_an_upgrade_adds():
    text = warned(cluster("1.35.4", pool("gpu", "1.35.4", vm_size=A100), pool("work", "1.35.4")))
    assert "Pool gpu adds 1 x Standard_NC24ads_A100_v4" in text
    assert "set maxSurge 0 and maxUnavailable 1" in text
    assert "work" not in text
    assert warned(cluster("1.35.4", pool("work", "1.35.4"))) == ""
    surge_free = pool("gpu", "1.35.4", vm_size=A100, settings={"max_surge": "0", "max_unavailable": "1"})
    assert warned(cluster("1.35.4", surge_free)) == (
        "New nodes have the newest node image, which may bring another GPU driver to gpu."
    )
    system = pool("gpu", "1.35.4", vm_size=A100, mode="System")
    assert "maxUnavailable" not in warned(cluster("1.35.4", system))


def test_a_gpu_pool_that_stays_is_not_mentioned():
    assert warned(cluster("1.36.2", pool("gpu", "1.36.2", vm_size=A100))) == ""
