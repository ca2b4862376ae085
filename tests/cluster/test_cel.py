"""What is said about selectors in CEL, held to the API server."""

from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.readers.kube_objects import read_object
from aksgpu.rules.cel import CEL_DOES_NOT_COMPILE, CEL_NOT_BOOLEAN
from tests.cluster.admission import Api
from tests.cluster.harness import Cluster

GPU = 'device.attributes["gpu.nvidia.com"]'
MEMORY = 'device.capacity["gpu.nvidia.com"].memory'

ACCEPTED = [
    "true",
    "device.driver == 'gpu.nvidia.com'",
    'device.driver == "gpu.nvidia.com" &&\n  device.driver.startsWith("gpu")',
    f"{GPU}.type == 'gpu'",
    f"{GPU}['type'] == r'gpu'",
    f"{GPU}.index == 0",
    f"{GPU}.?index.orValue(0) == 0",
    f"{GPU}[?'index'].hasValue()",
    "device.?attributes['gpu.nvidia.com'].index.orValue(0) == 0",
    f"has({GPU}.index) && {GPU}.index == 0",
    "has(device.driver)",
    "has(device.attributes) && has(device.capacity)",
    "'gpu.nvidia.com' in device.attributes",
    f"'index' in {GPU}",
    f"cel.bind(gpu, {GPU}, gpu.type == 'gpu' && gpu.architecture == 'Hopper')",
    "cel.bind(it, device, it.driver == 'gpu.nvidia.com')",
    f"{MEMORY}.isGreaterThan(quantity('40Gi'))",
    f"{MEMORY}.compareTo(quantity('40Gi')) >= 0",
    f"{MEMORY}.isLessThan(quantity('40Gi')) ? false : true",
    f"{MEMORY} == quantity('80Gi')",
    f"{MEMORY}.add(quantity('1Gi')).sub(1).isGreaterThan(quantity('40Gi'))",
    f"{MEMORY}.asInteger() > 1000",
    "isQuantity('1Gi') && isSemver('1.2.3')",
    f"{GPU}.cudaComputeCapability.isGreaterThan(semver('8.0.0'))",
    f"{GPU}.driverVersion.compareTo(semver('v580.1', true)) >= 0",
    f"{GPU}.driverVersion.major() >= 580",
    f"{GPU}.productName.lowerAscii().matches('^.*a100.*$')",
    f"{GPU}.productName.split(' ').exists(word, word == 'A100')",
    f"{GPU}.productName in ['Tesla T4', 'NVIDIA A10']",
    f"{GPU}.all(key, key != 'index')",
    f"{GPU}.exists(key, value, key == 'type' && value == 'gpu')",
    "[1, 2].transformList(index, value, index + value).size() == 2",
    "sets.contains(['gpu.nvidia.com'], [device.driver])",
    "[3, 1].isSorted() || [1, 2].sum() == 3",
    "'a1'.find('[0-9]') == '1'",
    "ip('10.0.0.1').family() == 4",
    "url('https://example.com').getHost() == 'example.com'",
    "1u < 2 && 1 < 2.5 && dyn(1) != 'a'",
    "size(device.attributes) > 0",
    "device.driver.format([]) != ''",
    "duration('1h') > duration('1m')",
    "has({'a': 1}.a)",
    "optional.none().orValue(true)",
    "int('3') == 3 && string(3) == '3'",
    f"{GPU}.migCapable",
]
"""Some name what no device has: that shows only when they run."""

REFUSED_AND_SEEN = [
    "device.driver = 'gpu.nvidia.com'",
    "device.driver == 'gpu.nvidia.com",
    "device.driver == 'gpu.nvidia.com' and true",
    "",
    f"({GPU}.type == 'gpu'",
    "devices.driver == 'gpu.nvidia.com'",
    f"{MEMORY} == '40Gi'",
    f"{MEMORY} > '40Gi'",
    f"{MEMORY} >= quantity('40Gi')",
    f"{MEMORY}.isGreaterThan('40Gi')",
    f"{MEMORY}.compareTo(40) >= 0",
    "device.driver == 1",
    f"{GPU}.type == 'gpu' && {MEMORY}",
    "device.driver ? true : false",
    "1 + 'a' == 2",
    "quantity(40) == quantity('40')",
]

NOT_BOOLEAN = [
    "device.driver",
    "1",
    "'true'",
    MEMORY,
    "size(device.attributes)",
    f"{MEMORY}.compareTo(quantity('1Gi'))",
]

REFUSED_AND_NOT_SEEN = [
    "device.name == 'gpu-0'",
    "device.driver.startWith('gpu')",
    "type(device.driver) == string",
    f"{MEMORY}.sign() == 1",
]
"""Nothing is claimed here, as the library doesn't know for certain."""


@pytest.fixture
def api(shared_cluster: Cluster) -> Api:
    return Api(shared_cluster.kubeconfig.read_text())


def claim(expression: str) -> dict[str, Any]:
    selected = {"deviceClassName": "aks-dra-gpu", "selectors": [{"cel": {"expression": expression}}]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "selected", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": selected}]}},
    }


def refused(api: Api, expression: str) -> bool:
    answer = api.create(claim(expression))
    assert answer.status in (201, 422), answer.message
    return answer.status == 422


def found(expression: str) -> set[str]:
    item = claim(expression)
    estate = read_object(item["apiVersion"], item["kind"], item, Place(object="ResourceClaim selected"))
    return {rule.name for rule in (CEL_DOES_NOT_COMPILE, CEL_NOT_BOOLEAN) if list(rule.check(estate))}


@pytest.mark.parametrize("expression", ACCEPTED)
def test_what_the_api_server_accepts_compiles(api: Api, expression: str):
    assert not refused(api, expression)
    assert found(expression) == set()


@pytest.mark.parametrize("expression", REFUSED_AND_SEEN)
def test_what_is_said_not_to_compile_is_refused(api: Api, expression: str):
    assert refused(api, expression)
    assert found(expression) == {"cel-does-not-compile"}


@pytest.mark.parametrize("expression", NOT_BOOLEAN)
def test_what_is_said_to_be_no_boolean_is_refused(api: Api, expression: str):
    assert refused(api, expression)
    assert found(expression) == {"cel-not-boolean"}


def test_a_result_that_only_shows_when_it_runs_is_stored_and_found(api: Api):
    expression = f"{GPU}.productName"
    assert not refused(api, expression)
    assert found(expression) == {"cel-not-boolean"}


@pytest.mark.parametrize("expression", REFUSED_AND_NOT_SEEN)
def test_the_api_server_refuses_more_than_is_claimed(api: Api, expression: str):
    assert refused(api, expression)
    assert found(expression) == set()
