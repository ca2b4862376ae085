"""Pools: borders of the rules about single pools that the examples don't show."""

from typing import Any

import pytest

from aksgpu.facts.base import Malformed, Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.book import BOOK, judge
from aksgpu.rules.readability import MALFORMED_VALUE

GPU, CPU = "Standard_NC24ads_A100_v4", "Standard_D4s_v5"


def said(**facts: Any) -> dict[str, str]:
    """Return the rules that speak of a pool: fails or waits."""
    pool = PoolFacts(place=Place(object="p"), form=PoolForm(kind="live"), name="p", **facts)
    return {
        finding.rule.name: "waits" if finding.verdict.undecided else "fails"
        for finding in judge(Estate(pools=(pool,)), BOOK)
    }


def test_nothing_is_said_of_an_ordinary_pool():
    assert said(vm_size=CPU, mode="System", scale_set_priority="Spot", max_surge="0", os_type="Windows") == {}
    assert said(vm_size="Standard_ND96isr_MI300X_v5", mode="System") == {}
    assert said() == {}


@pytest.mark.parametrize(
    ("facts", "rule", "says"),
    [
        ({"max_surge": "0", "max_unavailable": "2"}, "upgrade-settings", None),
        ({"max_surge": "0", "max_unavailable": "0%"}, "upgrade-settings", "fails"),
        ({"max_surge": UNKNOWN, "max_unavailable": "2"}, "upgrade-settings", None),
        ({"max_surge": UNKNOWN, "max_unavailable": "2", "mode": "System"}, "upgrade-settings", "fails"),
        ({"mig_strategy": "Single", "mig_profiles": UNKNOWN, "gpu_instance_profile": "MIG1g"}, "mig-profiles", "waits"),
        ({"mig_profiles": UNKNOWN, "gpu_instance_profile": "MIG9g"}, "mig-profiles", "fails"),
        ({"mig_profiles": ("mig1g",)}, "mig-profiles", None),
        ({"management_mode": "Managed", "os_type": UNKNOWN, "os_sku": "Flatcar"}, "managed-gpu-os", "fails"),
        ({"management_mode": "Managed", "driver_mode": "DRA", "os_sku": "Flatcar"}, "managed-gpu-os", None),
        ({"driver_mode": "DRA", "os_type": UNKNOWN, "os_sku": "Flatcar"}, "dra-os-sku", "fails"),
    ],
)
def test_borders(facts: dict[str, Any], rule: str, says: str | None):
    assert said(vm_size=GPU, **facts).get(rule) == says


@pytest.mark.parametrize(
    ("path", "size", "says"),
    [
        ("nodeTaints", CPU, []),
        ("nodeTaints", GPU, ["fails"]),
        ("properties.nodeTaints", UNKNOWN, ["waits"]),
        ("vmSize", UNKNOWN, ["fails"]),
        ("properties.gpuProfile.nvidia.driverMode", CPU, ["fails"]),
        ("agentPoolProfiles[1].gpuInstanceProfile", CPU, ["fails"]),
        ("agentPoolProfiles[1].", UNKNOWN, ["fails"]),
        ("properties", UNKNOWN, ["fails"]),
        ("tags", CPU, []),
    ],
)
def test_a_value_that_can_not_be_read_matters_where_gpus_are(path: str, size: Any, says: list[str]):
    wrong = Malformed(path=path, given="1", expected="text")
    pool = PoolFacts(place=Place(object="p"), form=PoolForm(kind="typed"), vm_size=size, malformed=(wrong,))
    found = list(MALFORMED_VALUE.check(Estate(pools=(pool,))))
    assert ["waits" if verdict.undecided else "fails" for verdict in found] == says
