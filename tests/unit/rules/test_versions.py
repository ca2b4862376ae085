"""Versions: what the message names, and which exceptions hold."""

from datetime import date
from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterChange, ClusterFacts, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolChange, PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.skew import END_OF_SUPPORT
from aksgpu.rules.version_changes import VERSION_DOWNGRADE, VERSION_HOP_SKIPPED

REF = ClusterRef(name="aks", resource_group="rg")
LTS = "AKSLongTermSupport"


def cluster(version: Any, plan: Any = None) -> ClusterFacts:
    place = Place(object="aks")
    return ClusterFacts(place=place, name="aks", resource_group="rg", kubernetes_version=version, support_plan=plan)


def pool(version: Any = None) -> PoolFacts:
    place, size = Place(object="gpunp"), "Standard_NC24ads_A100_v4"
    return PoolFacts(
        place=place, form=PoolForm(kind="live"), cluster=REF, name="gpunp", vm_size=size, kubernetes_version=version
    )


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (cluster("1.33.1"), cluster("1.35.2"), "fails"),
        (cluster("1.33.1", LTS), cluster("1.35.2", LTS), ""),
        (cluster("1.33.1"), cluster("1.35.2", LTS), "fails"),
        (cluster("1.33.1", LTS), cluster("1.35.2", UNKNOWN), "waits"),
        (cluster("1.33.1"), cluster(UNKNOWN), ""),
        (cluster("1.33.1"), cluster(None), ""),
    ],
)
def test_only_long_term_support_may_leave_a_minor_out(before: ClusterFacts, after: ClusterFacts, says: str):
    found = list(VERSION_HOP_SKIPPED.check(Estate(cluster_changes=(ClusterChange(before=before, after=after),))))
    assert ["waits" if verdict.undecided else "fails" for verdict in found] == ([says] if says else [])
    for verdict in found:
        assert "1.33.1" in verdict.message
        assert "1.35.2" in verdict.message


def test_the_plan_of_its_cluster_counts_for_a_pool():
    change = PoolChange(before=pool("1.33.1"), after=pool("1.35.2"))
    for plan, findings in ((None, 1), (LTS, 0)):
        estate = Estate(clusters=(cluster("1.35", plan),), changes=(change,))
        assert len(list(VERSION_HOP_SKIPPED.check(estate))) == findings


def test_both_ends_of_a_downgrade_are_named():
    estate = Estate(cluster_changes=(ClusterChange(before=cluster("1.35.4"), after=cluster("1.34.9")),))
    (verdict,) = VERSION_DOWNGRADE.check(estate)
    assert verdict.message == "Cluster aks would go from Kubernetes 1.35.4 to 1.34.9, which is older."


@pytest.mark.parametrize(
    ("version", "plan", "says"),
    [
        ("1.34.1", None, "long-term support ends on 2027-11-30"),
        ("1.34.1", UNKNOWN, "support plan isn't known yet"),
        ("1.34.1", LTS, ""),
        ("1.35.0", None, ""),
        ("1.99", None, ""),
        (None, None, ""),
    ],
)
def test_the_calendar(version: Any, plan: Any, says: str):
    estate = Estate(clusters=(cluster(version, plan),), pools=(pool(),), today=date(2026, 12, 1))
    found = [verdict.message for verdict in END_OF_SUPPORT.check(estate)]
    assert len(found) == bool(says)
    assert all(says in message for message in found)
