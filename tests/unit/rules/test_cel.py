"""Selectors: where the border of what is claimed runs. What the API server says is tested on a real one."""

import subprocess
import sys

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.claims import ClaimFacts, DeviceClassFacts, DeviceRequest
from aksgpu.facts.clusters import ANY_CLUSTER
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.rules import cel, cel_memory

GPU = 'device.attributes["gpu.nvidia.com"]'
MEMORY = 'device.capacity["gpu.nvidia.com"].memory'
H100 = "Standard_ND96isr_H100_v5"
PLACE = Place(object="DeviceClass selected")


def found(*expressions: str, pools: tuple[PoolFacts, ...] = ()) -> list[str]:
    entry = DeviceClassFacts(place=PLACE, api_version="resource.k8s.io/v1", selectors=expressions)
    estate = Estate(device_classes=(entry,), pools=pools)
    rules = (*cel.RULES, *cel_memory.RULES)
    return [rule.name for rule in rules for _ in rule.check(estate)]


def pool(size: str) -> PoolFacts:
    return PoolFacts(place=Place(object="gpunp"), form=PoolForm(kind="live"), cluster=ANY_CLUSTER, vm_size=size)


@pytest.mark.parametrize(
    "expression",
    [
        f"has({GPU}.index) && {GPU}.index == 0",
        f"'index' in {GPU} && {GPU}.index == 0",
        f"{GPU}.?index.orValue(0) == 0",
        f"{GPU}.type == 'gpu' || {GPU}.type == 'mig' || {GPU}.index == 0",
        f"{GPU}.productName == 'index'",
        "device.driver == 'dra.example.com' && device.attributes['dra.example.com'].minor == 1",
    ],
)
def test_a_removed_attribute_that_is_not_read_is_no_finding(expression: str):
    assert found(expression) == []


@pytest.mark.parametrize("name", ["index", "minor", "parentIndex", "pcieBusID"])
@pytest.mark.parametrize("form", ["{gpu}.{name} == x", "{gpu}['{name}'] == x", "cel.bind(it, {gpu}, it.{name} == x)"])
def test_a_removed_attribute_is_found_however_it_is_read(name: str, form: str):
    assert found(form.format(gpu=GPU, name=name).replace(" x", " 0")) == ["cel-removed-attribute"]


@pytest.mark.parametrize(
    ("memory", "names"),
    [
        ("isGreaterThan(quantity('80Gi'))", ["cel-never-true"]),
        ("compareTo(quantity('80Gi')) >= 0", ["cel-never-true"]),
        ("isGreaterThan(quantity('79.6Gi'))", []),
        ("compareTo(quantity('81559Mi')) == 0", []),
        ("compareTo(quantity('81000Mi')) == 0", []),  # close to what GPUs report: nobody knows for certain
        ("isLessThan(quantity('12Gi'))", []),  # a MIG device
        ("isLessThan(quantity('0'))", []),
    ],
)
def test_memory_is_compared_with_what_the_gpus_of_the_cluster_report(memory: str, names: list[str]):
    assert found(f"{GPU}.architecture == 'Hopper'", f"{MEMORY}.{memory}", pools=(pool(H100),)) == names


@pytest.mark.parametrize("others", [("Standard_ND96isr_H200_v5",), ("Standard_NC12345_new",)])
def test_another_pool_may_have_the_gpu(others: tuple[str, ...]):
    expression = f"{GPU}.architecture == 'Hopper' && {MEMORY}.isGreaterThan(quantity('80Gi'))"
    assert found(expression, pools=(pool(H100), *(pool(size) for size in others))) == []


def test_an_alternative_is_read_like_a_request():
    path = "spec.devices.requests[0].firstAvailable[0]"
    inner = DeviceRequest(path=path, selectors=("true", "device.driver = 'x'"))
    outer = DeviceRequest(path="spec.devices.requests[0]", alternatives=(inner,))
    claim = ClaimFacts(place=PLACE, kind="ResourceClaim", api_version="resource.k8s.io/v1", requests=(outer,))
    (verdict,) = cel.CEL_DOES_NOT_COMPILE.check(Estate(claims=(claim,)))
    assert verdict.place.path == f"{path}.selectors[1].cel.expression"
    assert "line 1, column" in verdict.message


@pytest.mark.parametrize("expression", ["\x00", "((((" * 500, "é == 'ü'", "\ud800", "a" * 20000])
def test_no_text_ends_in_a_traceback(expression: str):
    assert all(name.startswith("cel-") for name in found(expression))


def test_the_library_is_loaded_only_for_selectors():
    program = "import sys, aksgpu.rules.book; sys.exit('cel_expr_python' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
