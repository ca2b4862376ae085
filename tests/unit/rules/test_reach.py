"""Whether workloads reach a pool that gives GPUs in the way they ask for them."""

from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.claims import ClaimFacts, DeviceClassFacts, DeviceRequest
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Selection, Taint, Toleration
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN
from aksgpu.facts.workloads import ContainerFacts, PodClaim, Workload
from aksgpu.rules.reach import ALLOCATION_MISMATCH, GPU_POOL_UNREACHABLE

AKS = ClusterFacts(place=Place(object="aks"), name="aks", resource_group="rg")
REF = ClusterRef(name="aks", resource_group="rg")
TAINT = Taint(key="sku", value="gpu", effect="NoSchedule")


def pool(name: str, **facts: Any) -> PoolFacts:
    given: dict[str, Any] = {
        "management_mode": "Managed",
        "driver_mode": "DRA",
        "vm_size": "Standard_NC24ads_A100_v4",
        **facts,
    }
    return PoolFacts(place=Place(object=name), form=PoolForm(kind="live"), cluster=REF, name=name, **given)


DRA, PLUGIN = pool("dra"), pool("plugin", driver_mode="DevicePlugin")


def workload(resources: Any = None, **facts: Any) -> Workload:
    container = ContainerFacts(path="spec.containers[0]", resources=resources or {})
    given: dict[str, Any] = {"containers": (container,), "namespace": "team", "name": "train", **facts}
    return Workload(place=Place(object="Pod train"), api_version="v1", kind="Pod", path="spec", **given)


def plugin_user(**facts: Any) -> Workload:
    return workload({"nvidia.com/gpu": "1"}, **facts)


CLAIM = ClaimFacts(
    place=Place(object="claim"),
    kind="ResourceClaim",
    api_version="resource.k8s.io/v1",
    namespace="team",
    name="gpu",
    requests=(DeviceRequest(path="spec.devices.requests[0]", device_class="aks-dra-gpu"),),
)


def claimer(**facts: Any) -> Workload:
    return workload(claims=(PodClaim(path="spec.resourceClaims[0]", name="gpu", claim="gpu"),), **facts)


def found(*pools: PoolFacts, who: Workload, clusters: tuple[ClusterFacts, ...] = (AKS,), **facts: Any) -> str:
    """Return what the two rules say: the number of the one that fails, with a question mark when it waits."""
    claims = facts.pop("claims", (CLAIM,))
    estate = Estate(pools=pools, workloads=(who,), clusters=clusters, claims=claims, **facts)
    said = [
        f"{entry.id.removeprefix('AKSGPU')}{'?' if verdict.undecided else ''}"
        for entry in (ALLOCATION_MISMATCH, GPU_POOL_UNREACHABLE)
        for verdict in entry.check(estate)
    ]
    return " ".join(said)


def test_an_extended_resource_where_only_dra_pools_are():
    assert found(DRA, who=plugin_user()) == "302"
    assert found(DRA, PLUGIN, who=plugin_user()) == ""
    assert found(PLUGIN, who=plugin_user()) == ""


def test_a_claim_where_only_device_plugin_pools_are():
    assert found(PLUGIN, who=claimer()) == "302"
    assert found(DRA, PLUGIN, who=claimer()) == ""
    assert found(DRA, who=claimer()) == ""


def test_the_selector_leads_to_the_wrong_kind_of_pool():
    to_dra = Selection(labels={"kubernetes.azure.com/agentpool": "dra"})
    to_plugin = Selection(labels={"agentpool": "plugin"})
    assert found(DRA, PLUGIN, who=plugin_user(selection=to_dra)) == "302"
    assert found(DRA, PLUGIN, who=plugin_user(selection=to_plugin)) == ""
    assert found(DRA, PLUGIN, who=claimer(selection=to_plugin)) == "302"
    assert found(DRA, PLUGIN, who=claimer(selection=to_dra)) == ""


def test_pools_that_are_not_all_there_are_only_speak_when_they_are_named():
    assert found(DRA, who=plugin_user(), clusters=()) == ""
    named = Selection(labels={"agentpool": "dra"})
    assert found(DRA, who=plugin_user(selection=named), clusters=()) == "302"
    growing = AKS.model_copy(update={"node_provisioning": "Auto"})
    assert found(DRA, who=plugin_user(), clusters=(growing,)) == ""
    nameless = ClusterFacts(place=Place(object="--cluster-version"), kubernetes_version="1.35")
    assert found(DRA, who=plugin_user(), clusters=(nameless,)) == ""


def test_who_asks_for_no_gpu_is_left_alone():
    assert found(DRA, PLUGIN, who=workload()) == ""
    assert found(DRA, who=workload({"nvidia.com/gpu": "0"})) == ""
    assert found(DRA, who=workload({"amd.com/gpu": "1"})) == ""
    other = CLAIM.model_copy(update={"requests": (DeviceRequest(path="x", device_class="sriov.example.com"),)})
    assert found(PLUGIN, who=claimer(), claims=(other,)) == ""
    assert found(PLUGIN, who=claimer(), claims=()) == ""


def test_a_class_of_ones_own_counts_by_what_it_selects():
    own = CLAIM.model_copy(update={"requests": (DeviceRequest(path="x", device_class="big"),)})
    big = DeviceClassFacts(
        place=Place(object="big"),
        api_version="resource.k8s.io/v1",
        name="big",
        selectors=("device.driver == 'gpu.nvidia.com'",),
    )
    assert found(PLUGIN, who=claimer(), claims=(own,), device_classes=(big,)) == "302"
    assert found(PLUGIN, who=claimer(), claims=(own,)) == ""


def test_a_class_that_serves_the_extended_resource_settles_it():
    served = DeviceClassFacts(
        place=Place(object="c"), api_version="resource.k8s.io/v1", name="c", extended_resource_name="nvidia.com/gpu"
    )
    assert found(DRA, who=plugin_user(), device_classes=(served,)) == ""


@pytest.mark.parametrize(
    ("tolerations", "says"),
    [((), "303"), ((Toleration(key="sku", operator="Exists"),), ""), (UNKNOWN, "303?")],
)
def test_a_taint_that_has_to_be_tolerated(tolerations: Any, says: str):
    tainted = pool("dra", taints=(TAINT,))
    assert found(tainted, who=claimer(tolerations=tolerations)) == says


def test_the_api_server_adds_the_toleration_of_the_resource_itself():
    tainted = pool("plugin", driver_mode="DevicePlugin", taints=(Taint(key="nvidia.com/gpu", effect="NoSchedule"),))
    assert found(tainted, who=plugin_user()) == ""
    assert found(pool("dra", taints=tainted.taints), who=claimer()) == "303"


def test_spot_pools_are_tainted_by_aks():
    spot = pool("dra", scale_set_priority="Spot")
    assert found(spot, who=claimer()) == "303"
    toleration = Toleration(key="kubernetes.azure.com/scalesetpriority", value="spot", effect="NoSchedule")
    assert found(spot, who=claimer(tolerations=(toleration,))) == ""


def test_a_selector_that_no_pool_matches():
    assert found(DRA, who=claimer(selection=Selection(labels={"gpu": "big"}))) == "303"
    assert found(pool("dra", labels={"gpu": "big"}), who=claimer(selection=Selection(labels={"gpu": "big"}))) == ""
    assert found(pool("dra", labels=UNKNOWN), who=claimer(selection=Selection(labels={"gpu": "big"}))) == "303?"


def test_the_reason_is_named():
    tainted = pool("dra", taints=(TAINT,))
    estate = Estate(clusters=(AKS,), pools=(tainted,), claims=(CLAIM,), workloads=(claimer(),))
    (verdict,) = GPU_POOL_UNREACHABLE.check(estate)
    assert "sku=gpu:NoSchedule" in verdict.message
    assert verdict.place.path == "spec"


def test_an_unmanaged_pool_is_judged_by_what_lands_on_it():
    bare = pool("bare", management_mode=None, driver_mode=None)
    plugin = GpuComponent(place=Place(object="ds"), product="device-plugin", description="ds", device_plugin=True)
    assert found(bare, who=claimer()) == ""  # another program may bring what hands out its GPUs
    assert found(bare, who=claimer(), components=(plugin,)) == "302"
    assert found(bare, who=plugin_user(), components=(plugin,)) == ""


def test_pods_with_a_node_name_are_another_rules_business():
    assert found(DRA, who=plugin_user(node_name="aks-dra-0")) == ""


def test_what_is_not_known_yet_is_said():
    assert found(pool("p", driver_mode=UNKNOWN), who=plugin_user()) == "302?"
    assert found(DRA, who=workload({"nvidia.com/gpu": "1"}, selection=UNKNOWN), clusters=(AKS,)) == "302?"
