"""Who owns the driver: the table of coherent and broken combinations, the known gaps of others, and programs."""

import re
from itertools import product
from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.gpu_charts import read_chart, read_cluster_policy
from aksgpu.readers.values import read_stack
from aksgpu.rules.book import judge

DRA, OP = "nvidia-dra-driver-gpu", "gpu-operator"
MIXED, DRIVERLESS, MISMATCH, ROOT = (
    "driver-ownership-mixed", "driverless-nodes", "pool-driver-mismatch", "driver-root",
)  # fmt: skip
HOST, OPERATOR = "/", "/run/nvidia/driver"
UNSET = object()


def found(estate: Estate) -> dict[str, str]:
    """What rules about ownership say, by name."""
    return {
        finding.rule.name: finding.verdict.message
        for finding in judge(estate)
        if finding.rule.id.startswith(("AKSGPU40", "AKSGPU001")) and not finding.verdict.undecided
    }


def pool(driver: str | None, **facts: Any) -> PoolFacts:
    size = facts.pop("vm_size", "Standard_NC24ads_A100_v4")
    form = PoolForm(kind="live")
    return PoolFacts(place=Place(object="gpua"), form=form, name="gpua", vm_size=size, gpu_driver=driver, **facts)


def values(
    driver: Any = UNSET,
    toolkit: Any = UNSET,
    directory: Any = UNSET,
    root: Any = UNSET,
    runtime_class: Any = UNSET,
    **dra: Any,
) -> dict[str, Any]:
    """Values of both charts; the runtime class goes with the driver unless it is said."""
    operator: dict[str, Any] = {}
    for key, value in (("driver", driver), ("toolkit", toolkit)):
        if value is not UNSET:
            operator[key] = {"enabled": value}
    if directory is not UNSET:
        operator["hostPaths"] = {"driverInstallDir": directory}
    fitting = "nvidia-container-runtime" if driver is False else "nvidia"
    operator["operator"] = {"runtimeClass": fitting if runtime_class is UNSET else runtime_class}
    driver_values = {"resources": {"gpus": {"enabled": False}}, **dra}
    if root is not UNSET:
        driver_values["nvidiaDriverRoot"] = root
    return {OP: operator, DRA: driver_values}


def estate(stack: dict[str, Any], state: str = "") -> Estate:
    """`state` says what a snapshot of the nodes would: a driver is there, is not, or nobody looked."""
    drivers = {"absent": "None", "preinstalled": "Install"}
    pools = (pool(drivers[state]),) if state else ()
    return Estate.merge([read_stack(stack), Estate(pools=pools)])


T, F = True, False


@pytest.mark.parametrize(
    ("state", "given", "broken"),
    [
        pytest.param("absent", values(F, F), {DRIVERLESS}, id="no driver anywhere"),
        pytest.param("absent", values(F, T), {MIXED, DRIVERLESS}, id="no driver anywhere, toolkit on"),
        pytest.param("absent", values(F), {MIXED, DRIVERLESS}, id="no driver anywhere, toolkit unset"),
        pytest.param("absent", values(T, F, root=OPERATOR), {MIXED}, id="driver without toolkit"),
        pytest.param("absent", values(UNSET, F, root=OPERATOR), {MIXED}, id="driver unset, no toolkit"),
        pytest.param("absent", values(T, T, root=OPERATOR), set(), id="operator's own"),
        pytest.param("absent", values(T, UNSET, root=OPERATOR), set(), id="operator's own, toolkit unset"),
        pytest.param("absent", values(T, T, root=HOST), {ROOT}, id="operator's driver, host root"),
        pytest.param("", values(F, F, root=HOST), set(), id="AKS's own, nobody looked"),
        pytest.param("preinstalled", values(F, F, root=HOST), set(), id="AKS's own"),
        pytest.param("", values(F, F, root=OPERATOR), {ROOT}, id="legacy root"),
        pytest.param("preinstalled", values(F, F, root=f"{OPERATOR}/"), {ROOT}, id="legacy root with slash"),
        pytest.param("", values(F, UNSET, root=OPERATOR), {MIXED}, id="legacy root, toolkit unset"),
        pytest.param("", values(T), {ROOT}, id="root not declared"),
        pytest.param(
            "", values(T, directory="/home/kubernetes/bin/nvidia", root=OPERATOR), {ROOT}, id="other directory"
        ),
        pytest.param("", values(T, directory="/opt/x/", root="/opt/x"), set(), id="trailing slash"),
        pytest.param("", values(T, root=HOST, enabled=False), set(), id="DRA driver switched off"),
        pytest.param("absent", values(F, F, root=OPERATOR), {DRIVERLESS, ROOT}, id="two messages"),
        pytest.param("preinstalled", values(T, T, root=OPERATOR), {MISMATCH}, id="two drivers"),
        *(
            pytest.param("", values(bad, root=OPERATOR), {"malformed-value"}, id=f"driver {bad!r}")
            for bad in ("false", "False", 1, 0)
        ),
        *(
            pytest.param("", values(T, bad, root=OPERATOR), {"malformed-value"}, id=f"toolkit {bad!r}")
            for bad in ("false", 1)
        ),
        pytest.param("", values(None, root=OPERATOR), {MIXED}, id="driver.enabled null"),
        pytest.param("", values(T, None, root=OPERATOR), {MIXED}, id="toolkit.enabled null"),
        pytest.param("", {OP: {"driver": None}}, {MIXED}, id="driver null"),
        pytest.param("", {OP: {"toolkit": None}}, {MIXED}, id="toolkit null"),
        pytest.param("", {OP: {"hostPaths": None}}, {ROOT}, id="hostPaths null"),
        pytest.param("", {OP: {"driver": "yes"}}, {"malformed-value"}, id="driver no group"),
        pytest.param("", values(T, directory="/", root=OPERATOR), {ROOT}, id="install directory /"),
        pytest.param("", values(T, directory="//", root=OPERATOR), {ROOT}, id="install directory //"),
        pytest.param("", values(T, directory="run/nvidia", root=OPERATOR), {ROOT}, id="install directory relative"),
        pytest.param("", values(T, directory=None, root=OPERATOR), {ROOT}, id="install directory null"),
        pytest.param("", values(T, directory=5, root=OPERATOR), {"malformed-value"}, id="install directory number"),
        pytest.param("", values(T, directory="", root=OPERATOR), set(), id="install directory empty is the default"),
        pytest.param("", values(T, root=""), {ROOT}, id="root empty"),
        pytest.param("", values(T, root=None), {ROOT}, id="root null"),
        pytest.param("", values(T, root=True), {"malformed-value"}, id="root boolean"),
        pytest.param("", values(T, root="run/nvidia/driver"), {ROOT}, id="root relative"),
        # What others let pass although their own guide calls it broken.
        pytest.param("", values(T, F, root=OPERATOR), {MIXED}, id="gap a: driver by the operator, toolkit by nobody"),
        pytest.param("", values(F, T, root=HOST), {MIXED}, id="gap b: driver by AKS, toolkit by the operator"),
        pytest.param("", values(F, F, root=HOST, runtime_class="nvidia"), {MIXED}, id="gap c: class, AKS's driver"),
        pytest.param(
            "", values(T, T, root=OPERATOR, runtime_class="nvidia-container-runtime"), {MIXED}, id="gap c: class"
        ),
        pytest.param("absent", values(F, F, root=HOST), {DRIVERLESS}, id="gap d: AKS's values, pool without driver"),
    ],
)
def test_the_table(state: str, given: dict[str, Any], broken: set[str]):
    assert set(found(estate(given, state))) == broken


def test_only_two_of_all_combinations_are_coherent():
    fine = [
        combination
        for combination in product((T, F), (T, F), ("nvidia", "nvidia-container-runtime"), (HOST, OPERATOR))
        for driver, toolkit, runtime_class, root in [combination]
        if not found(estate(values(driver, toolkit, root=root, runtime_class=runtime_class)))
    ]
    assert fine == [(T, T, "nvidia", OPERATOR), (F, F, "nvidia-container-runtime", HOST)]


def test_a_mix_names_every_value_that_has_to_change_for_either_way():
    operator: dict[str, Any] = {
        "driver": {"enabled": True, "rdma": {"useHostMofed": True}},
        "toolkit": {"enabled": False},
        "operator": {"runtimeClass": "nvidia"},
    }
    sentinel = {"labeler": {"assumeDriverInstalled": True}}
    driver = {"resources": {"gpus": {"enabled": False}}}
    said = found(estate({OP: operator, DRA: driver, "nvsentinel": sentinel}))[MIXED]
    ways = dict(re.findall(r"For ([\w -]+) \(pools with gpuProfile.driver \w+\) set (.*?)\.(?= For|$)", said))
    assert {way: set(text.split(", ")) for way, text in ways.items()} == {
        "GPU Operator-managed": {
            f"{OP} toolkit.enabled=true",
            f"{DRA} nvidiaDriverRoot={OPERATOR}",
            f"{OP} driver.rdma.useHostMofed=false",
            "nvsentinel labeler.assumeDriverInstalled=false",
        },
        "AKS driver-only": {
            f"{OP} driver.enabled=false",
            f"{OP} operator.runtimeClass=nvidia-container-runtime",
            f"{OP} driver.rdma.useHostMofed=false",
            "nvsentinel metadata-collector.runtimeClassName=nvidia-container-runtime",
        },
    }


def release(chart: str, chart_values: Any, name: str = "x", cluster: ClusterRef = ANY_CLUSTER) -> Estate:
    return read_chart(chart, Place(object=f"urn::{name}"), "Helm release", chart_values, cluster)


def test_the_operator_alone_with_its_defaults_is_coherent_on_pools_without_a_driver():
    operator = release("nvidia/gpu-operator", {})
    assert found(operator) == {}
    assert found(Estate.merge([operator, Estate(pools=(pool("None"),))])) == {}


@pytest.mark.parametrize(
    ("facts", "broken"),
    [
        ({}, {MISMATCH}),
        ({"vm_size": "Standard_D4s_v5"}, set()),
        ({"os_type": "Windows"}, set()),
        ({"management_mode": "Managed"}, {"managed-pool-with-unmanaged-stack"}),
        ({"labels": {"nvidia.com/gpu.deploy.operands": "false"}}, set()),
    ],
)
@pytest.mark.parametrize("driver", ["Install", None])
def test_pools_that_the_operator_reaches_get_no_second_driver(
    facts: dict[str, Any], broken: set[str], driver: str | None
):
    operator = release("nvidia/gpu-operator", {})
    assert set(found(Estate.merge([operator, Estate(pools=(pool(driver, **facts),))]))) == broken


def test_releases_of_one_cluster_are_judged_together_and_of_two_apart():
    aks_values = {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "operator": {"runtimeClass": "nvidia-container-runtime"},
    }
    dra_values = {"resources": {"gpus": {"enabled": False}}, "nvidiaDriverRoot": OPERATOR}
    one, two = (ClusterRef(name=name, resource_group="rg") for name in ("one", "two"))
    operator, driver = release(OP, aks_values, "op", one), release(DRA, dra_values, "dra", one)
    elsewhere, anywhere = release(DRA, dra_values, "dra", two), release(DRA, dra_values, "dra")
    assert set(found(Estate.merge([operator, driver]))) == {ROOT}
    assert set(found(Estate.merge([operator, anywhere]))) == {ROOT}
    assert found(Estate.merge([operator, elsewhere])) == {}


def test_a_second_release_hides_nothing():
    good = release(DRA, {"resources": {"gpus": {"enabled": False}}, "nvidiaDriverRoot": OPERATOR}, "good")
    bad = release(DRA, {"resources": {"gpus": {"enabled": False}}, "nvidiaDriverRoot": HOST}, "bad")
    operator = release(OP, {}, "op")
    assert found(Estate.merge([operator, good])) == {}
    for parts in ([operator, good, bad], [bad, operator, good]):
        assert set(found(Estate.merge(parts))) == {ROOT}


def test_what_is_unknown_waits_unless_the_known_rules_everything_out():
    unknown = {"driver": {"enabled": UNKNOWN}, "toolkit": {"enabled": False}}
    assert set(found(release(OP, unknown))) == {MIXED}  # the class is still nvidia
    waiting = judge(release(OP, {**unknown, "operator": {"runtimeClass": "nvidia-container-runtime"}}))
    said = [item for item in waiting if item.rule.name == MIXED]
    assert [item.verdict.undecided for item in said] == [True]
    assert "driver.enabled" in said[0].verdict.message


@pytest.mark.parametrize("part_of", [None, "urn::chart"])
def test_a_cluster_policy_is_judged_and_counts_more_than_the_chart_that_makes_it(part_of: str | None):
    spec = {"driver": {"enabled": True}, "toolkit": {"enabled": False}}
    policy = read_cluster_policy(Place(object="ClusterPolicy x"), "ClusterPolicy x", spec, ANY_CLUSTER, part_of)
    assert set(found(policy)) == {MIXED}
    # A transformation may have changed what the chart made.
    for chart in (release(OP, {}, "chart"), release(OP, {"driver": {"enabled": False}}, "chart")):
        assert set(found(Estate.merge([chart, policy]))) == {MIXED}
    coherent = read_cluster_policy(Place(object="ClusterPolicy x"), "ClusterPolicy x", {}, ANY_CLUSTER, "urn::chart")
    assert found(Estate.merge([release(OP, {"driver": {"enabled": False}}, "chart"), coherent])) == {}
