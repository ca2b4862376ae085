"""Whether software lands on a pool: selectors, affinity, taints, clusters."""

from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Operator, Requirement, Selection, Taint, Toleration
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.placement import lands_on

PLACE = Place(object="x")


def pool(**facts: Any) -> PoolFacts:
    return PoolFacts(place=PLACE, form=PoolForm(kind="live"), name="gpunp", **facts)


def component(**facts: Any) -> GpuComponent:
    return GpuComponent(place=PLACE, product="device-plugin", description="x", **facts)


def term(key: str, operator: Operator, *values: str) -> tuple[Requirement, ...]:
    return (Requirement(key=key, operator=operator, values=values),)


@pytest.mark.parametrize(
    ("labels", "lands"),
    [
        ({}, True),
        ({"gpu": "dra"}, True),
        ({"gpu": "plugin"}, False),
        ({"agentpool": "gpunp"}, True),
        ({"kubernetes.azure.com/agentpool": "other"}, False),
        ({"kubernetes.azure.com/accelerator": "nvidia"}, True),
        ({"kubernetes.io/os": "windows"}, False),
        ({"node.kubernetes.io/instance-type": "Standard_D4s_v5"}, False),
        ({"nvidia.com/gpu.present": "true"}, True),  # set by software on the node: it may match
        ({"kubernetes.io/hostname": "aks-gpunp-0"}, True),
        ({"team": "ml"}, False),  # nothing puts this label on the pool's nodes
    ],
)
def test_node_selector(labels: dict[str, str], lands: bool):
    here = pool(labels={"gpu": "dra"}, vm_size="Standard_NC24ads_A100_v4")
    assert lands_on(component(selection=Selection(labels=labels)), here, Estate()) is lands


@pytest.mark.parametrize(
    ("terms", "lands"),
    [
        ((term("gpu", "In", "dra", "x"),), True),
        ((term("gpu", "In", "x"),), False),
        ((term("gpu", "NotIn", "dra"),), False),
        ((term("gpu", "NotIn", "x"),), True),
        ((term("gpu", "Exists"),), True),
        ((term("gpu", "DoesNotExist"),), False),
        ((term("other", "DoesNotExist"),), True),
        ((term("other", "NotIn", "x"),), True),
        ((term("size", "Gt", "3"),), True),
        ((term("size", "Lt", "3"),), False),
        ((term("gpu", "Gt", "3"),), False),
        ((term("gpu", "In", "x"), term("gpu", "Exists")), True),
        ((term("gpu", "Exists") + term("gpu", "In", "x"),), False),
        (((),), False),  # an empty term matches no node
    ],
)
def test_node_affinity(terms: tuple[tuple[Requirement, ...], ...], lands: bool):
    here = pool(labels={"gpu": "dra", "size": "4"})
    assert lands_on(component(selection=Selection(terms=terms)), here, Estate()) is lands


TAINT = Taint(key="sku", value="gpu", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "lands"),
    [
        (Toleration(key="sku", value="gpu", effect="NoSchedule"), True),
        (Toleration(key="sku", value="gpu"), True),
        (Toleration(key="sku", value="cpu"), False),
        (Toleration(key="sku", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="sku", operator="Exists"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(), False),
        (Toleration(key="other", operator="Exists"), False),
    ],
)
def test_toleration(toleration: Toleration, lands: bool):
    assert lands_on(component(tolerations=(toleration,)), pool(taints=(TAINT,)), Estate()) is lands


def test_a_taint_that_only_prefers_keeps_nobody_away():
    assert lands_on(component(), pool(taints=(Taint(key="a", effect="PreferNoSchedule"),)), Estate()) is True


def test_all_taints_have_to_be_tolerated():
    here = pool(taints=(TAINT, Taint(key="b", effect="NoExecute")))
    assert lands_on(component(tolerations=(Toleration(key="sku", operator="Exists"),)), here, Estate()) is False


def test_what_is_not_known_is_not_decided():
    selected = component(selection=Selection(labels={"gpu": "dra"}))
    assert lands_on(selected, pool(labels=UNKNOWN), Estate()) is UNKNOWN
    assert lands_on(component(selection=UNKNOWN), pool(), Estate()) is UNKNOWN
    assert lands_on(component(), pool(taints=UNKNOWN), Estate()) is UNKNOWN
    assert lands_on(component(tolerations=UNKNOWN), pool(taints=(TAINT,)), Estate()) is UNKNOWN


def test_one_false_settles_it_whatever_is_unknown():
    away = component(selection=Selection(labels={"gpu": "plugin"}), tolerations=UNKNOWN)
    assert lands_on(away, pool(labels={"gpu": "dra"}, taints=UNKNOWN), Estate()) is False
    everywhere = component(tolerations=(Toleration(operator="Exists"),))
    assert lands_on(everywhere, pool(taints=UNKNOWN), Estate()) is True


def test_clusters_are_told_apart_where_they_are_named():
    here = pool(cluster=ClusterRef(name="aks-a", resource_group="rg"))
    assert lands_on(component(cluster=ClusterRef(name="AKS-A", resource_group="RG")), here, Estate()) is True
    assert lands_on(component(cluster=ClusterRef(name="aks-b", resource_group="rg")), here, Estate()) is False
    assert lands_on(component(), here, Estate()) is True


def test_a_pool_that_is_linked_to_a_cluster_is_compared_by_that_clusters_name():
    cluster = ClusterFacts(place=Place(object="urn:cluster"), name="aks-a", resource_group="rg")
    here = pool(cluster=ClusterRef(object="urn:cluster"))
    estate = Estate(clusters=(cluster,))
    assert lands_on(component(cluster=ClusterRef(name="aks-a", resource_group="rg")), here, estate) is True
    assert lands_on(component(cluster=ClusterRef(name="aks-b", resource_group="rg")), here, estate) is False
    assert lands_on(component(cluster=ClusterRef(name="aks-b")), pool(), Estate()) is UNKNOWN
