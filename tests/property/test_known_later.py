"""Rules judge what is known so far; nothing that is known later makes them take back what they said."""

from datetime import date
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Selection, Taint, Toleration
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN
from aksgpu.facts.workloads import ContainerFacts, Workload
from aksgpu.rules.book import BOOK, judge

_TAINTS = st.sampled_from([None, (), (Taint(key="sku", value="gpu", effect="NoSchedule"),)])
_VERSIONS = st.sampled_from([None, "1.31", "1.32.4", "1.34", "1.35", "1.35.2", "1.36"])
POOL = {
    "vm_size": st.sampled_from(
        [
            None,
            "Standard_NC24ads_A100_v4",
            "Standard_NV6ads_A10_v5",
            "Standard_NC6s_v3",
            "Standard_D4s_v5",
            "Standard_NX1",
        ]
    ),
    "os_type": st.sampled_from([None, "Linux", "Windows"]),
    "os_sku": st.sampled_from([None, "Ubuntu", "AzureContainerLinux", "Flatcar", "Windows2022"]),
    "kubernetes_version": _VERSIONS,
    "mode": st.sampled_from([None, "System", "User"]),
    "scale_set_priority": st.sampled_from([None, "Regular", "Spot"]),
    "max_surge": st.sampled_from([None, "0", "0%", "1", "33%"]),
    "max_unavailable": st.sampled_from([None, "0", "1"]),
    "autoscaling": st.sampled_from([None, True, False]),
    "gpu_driver": st.sampled_from([None, "Install", "None"]),
    "management_mode": st.sampled_from([None, "Managed", "Unmanaged"]),
    "driver_mode": st.sampled_from([None, "DRA", "DevicePlugin"]),
    "mig_strategy": st.sampled_from([None, "None", "Single", "Mixed"]),
    "mig_profiles": st.sampled_from([None, (), ("MIG1g",), ("MIG1g", "MIG3g"), ("MIG5g",)]),
    "gpu_instance_profile": st.sampled_from([None, "MIG1g", "MIG5g"]),
    "labels": st.sampled_from([None, {}, {"gpu": "dra"}]),
    "taints": _TAINTS,
    "vm_tags": st.sampled_from([None, {}, {"EnableManagedGPUExperience": "true"}]),
}
CLUSTER = {
    "kubernetes_version": _VERSIONS,
    "node_provisioning": st.sampled_from([None, "Manual", "Auto"]),
    "support_plan": st.sampled_from([None, "KubernetesOfficial", "AKSLongTermSupport"]),
}
COMPONENT = {
    "selection": st.sampled_from([Selection(), Selection(labels={"gpu": "dra"}), Selection(labels={"gpu": "plugin"})]),
    "tolerations": st.sampled_from([(), (Toleration(operator="Exists"),)]),
    "enabled": st.booleans(),
    "device_plugin": st.booleans(),
}
WORKLOAD = {
    "selection": COMPONENT["selection"],
    "tolerations": COMPONENT["tolerations"],
    "containers": st.sampled_from(
        [(ContainerFacts(path="c", resources={key: "1"}),) for key in ("nvidia.com/gpu", "example.com/disk")]
    ),
}


@st.composite
def partly_known(draw: st.DrawFn, fields: dict[str, st.SearchStrategy[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of which some aren't known at first, and the same values when all are."""
    later = draw(st.fixed_dictionaries(fields))
    hidden = draw(st.sets(st.sampled_from(sorted(fields)), max_size=5))
    return {key: UNKNOWN if key in hidden else value for key, value in later.items()}, later


SILENT = {
    "unknown-vm-size",
    "pool-ahead-of-control-plane",
    "pool-too-far-behind",
    "end-of-support",
}
"""Rules that say nothing before they are sure: another one says that the pool's size is awaited."""


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.tuples(*(partly_known(fields) for fields in (POOL, POOL, CLUSTER, COMPONENT, WORKLOAD))))
def test_no_finding_is_taken_back_and_none_comes_out_of_nothing(facts: tuple[Any, ...]):
    """What is decided stays decided, and what fails in the end was at least undecided before."""
    before, anything = _said([known_now for known_now, _ in facts])
    after, _ = _said([known_later for _, known_later in facts])
    assert before <= after
    assert {rule for rule, _ in after - anything} <= SILENT


def _said(values: list[dict[str, Any]]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return what is decided, and what is decided or awaited: rules, and the objects they speak of."""
    one, other, cluster, component, workload = values
    estate = Estate(
        clusters=(ClusterFacts(place=Place(object="aks"), name="aks", resource_group="rg", **cluster),),
        pools=(_pool("one", one), _pool("other", other)),
        components=(GpuComponent(place=Place(object="ds"), product="device-plugin", description="ds", **component),),
        workloads=(Workload(place=Place(object="pod"), api_version="v1", kind="Pod", path="spec", **workload),),
        today=date(2026, 12, 1),
    )
    found = judge(estate, BOOK)
    decided = {(item.rule.name, item.verdict.place.object) for item in found if not item.verdict.undecided}
    return decided, {(item.rule.name, item.verdict.place.object) for item in found}


def _pool(name: str, values: dict[str, Any]) -> PoolFacts:
    cluster = ClusterRef(name="aks", resource_group="rg")
    return PoolFacts(place=Place(object=name), form=PoolForm(kind="live"), name=name, cluster=cluster, **values)
