"""Who hands out whole GPUs, by the values of the charts: named cases, and every combination against an oracle."""

from collections import Counter
from itertools import product
from typing import Any, Literal

import pytest

from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.values import read_stack
from aksgpu.rules.allocation_values import allocation_of
from aksgpu.rules.book import judge
from aksgpu.rules.recipe import resolve

DRA, DRA_OCP = "nvidia-dra-driver-gpu", "nvidia-dra-driver-gpu-ocp"
OP, OCP = "gpu-operator", "gpu-operator-ocp"
PLUGIN, CLAIM = "device-plugin-extended-resource", "dra-resource-claim"
T, F = True, False


def dra(gpus: Any, waiver: Any) -> dict[str, Any]:
    return {"resources": {"gpus": {"enabled": gpus}}, "gpuResourcesEnabledOverride": waiver}


def op(plugin: Any) -> dict[str, Any]:
    return {"devicePlugin": {"enabled": plugin}}


def off(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "enabled": False}


def resolved(values: dict[str, Any], advertiser: str = "") -> tuple[str | None, str, str]:
    found = resolve(read_stack(values, advertiser).stacks[0])
    return found.policy, found.verdict, found.message


def verdict(values: dict[str, Any], advertiser: str = "") -> str:
    policy, found, _ = resolved(values, advertiser)
    assert (policy is not None) == (found == "ok")
    return policy or found


# Numbered as in the tables of NVIDIA/aicr's own test (7, no recipe at all, is test_nothing_given_is_no_answer).
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({DRA: dra(F, F), OP: op(T)}, PLUGIN, id="1"),
        pytest.param({DRA: dra(T, T), OP: op(F)}, CLAIM, id="2"),
        pytest.param({DRA: dra(T, T), OP: op(T)}, "dual-advertisement", id="3"),
        pytest.param({DRA: dra(T, F), OP: op(T)}, "chart-guard", id="4"),
        pytest.param({DRA: dra(F, T), OP: op(T)}, "inert-waiver", id="5"),
        pytest.param({DRA: dra(F, F), OP: op(F)}, "no-advertiser", id="6"),
        pytest.param({OP: op(T)}, PLUGIN, id="8"),
        pytest.param({DRA: off(dra(T, T)), OP: op(T)}, PLUGIN, id="9"),
        pytest.param({OP: op(F)}, "no-advertiser", id="10"),
        pytest.param({DRA: None, OP: None}, "switch-not-pinned", id="11"),
        pytest.param({DRA: dra(F, F)}, "no-advertiser", id="12"),
        pytest.param({DRA: dra(F, F), OP: off(op(T))}, "no-advertiser", id="13"),
        pytest.param({DRA: dra(F, F), OCP: op(T)}, PLUGIN, id="14"),
        pytest.param({DRA: off(dra(T, T)), OP: off(op(T)), OCP: op(T)}, PLUGIN, id="15"),
        pytest.param({OCP: {}}, PLUGIN, id="16"),
        pytest.param({OP: op(T), OCP: op(F)}, "two-operators", id="17"),
        pytest.param({DRA: dra(T, T)}, CLAIM, id="18"),
        pytest.param({DRA: dra("true", F), OP: op(T)}, "malformed-value", id="19"),
        pytest.param({DRA: {"resources": "oops"}, OP: op(T)}, "malformed-value", id="20"),
        pytest.param({DRA: dra(T, "yes"), OP: op(F)}, "malformed-value", id="21"),
        pytest.param({DRA: dra(F, F), OP: {"devicePlugin": None}}, PLUGIN, id="22"),
        pytest.param({DRA: {"resources": None}, OP: op(T)}, "switch-not-pinned", id="23"),
        pytest.param({OP: op(1)}, "malformed-value", id="24"),
        pytest.param({DRA_OCP: dra(T, T), OCP: op(F)}, CLAIM, id="25"),
        pytest.param({DRA_OCP: dra(T, T), OCP: op(T)}, "dual-advertisement", id="26"),
        pytest.param({DRA: dra(F, F), DRA_OCP: dra(T, T), OP: op(T)}, PLUGIN, id="27"),
        pytest.param({DRA: off(dra(F, F)), DRA_OCP: dra(T, T), OP: op(F)}, CLAIM, id="27, canonical one switched off"),
        pytest.param({OP: {"devicePlugin": {}}}, PLUGIN, id="empty group is absent"),
        pytest.param({DRA: dra(None, "yes"), OP: op(T)}, "switch-not-pinned", id="unset switch before waiver"),
        pytest.param({DRA: dra(F, F), OP: {"enabled": "no"}}, "malformed-value", id="enabled in quotes"),
    ],
)
def test_named_case(values: dict[str, Any], expected: str):
    assert verdict(values) == expected


@pytest.mark.parametrize(
    ("values", "expected", "says"),
    [
        ({DRA: dra(F, F), OP: op(F)}, PLUGIN, "outside"),
        ({DRA: dra(F, F)}, PLUGIN, "outside"),
        ({OP: op(T)}, "dual-advertisement", "devicePlugin.enabled is true"),
        ({OP: {}}, "dual-advertisement", "not set, which means true"),
        ({OP: op(F), OCP: op(T)}, "two-operators", "gpu-operator-ocp"),
        ({OP: op(F), OCP: op(F)}, "two-operators", "gpu-operator-ocp"),
        ({OP: op(F), OCP: {}}, "two-operators", "gpu-operator-ocp"),
        ({DRA: dra(T, T), OP: op(F)}, "dual-advertisement", "resources.gpus.enabled is true"),
        ({DRA: dra(T, F), OP: op(F)}, "dual-advertisement", "resources.gpus.enabled is true"),
        ({DRA: dra(F, T)}, "inert-waiver", "gpuResourcesEnabledOverride"),
        ({DRA: {}}, "switch-not-pinned", "isn't set"),
    ],
)
def test_external_advertiser(values: dict[str, Any], expected: str, says: str):
    policy, found, message = resolved(values, "external")
    assert (policy or found) == expected
    assert says in message


@pytest.mark.parametrize("word", ["External", "csp", "managed", "external ", "none"])
def test_any_other_advertiser_is_unknown_whatever_the_values_are(word: str):
    assert verdict({DRA: {"resources": "oops"}, OP: {}, OCP: {}}, word) == "unknown-advertiser"


Setting = Literal["unset", "true", "false", "malformed"]
SETTINGS: tuple[Setting, ...] = ("unset", "true", "false", "malformed")
WRITTEN: dict[str, Any] = {"true": True, "false": False, "malformed": "true"}
Dra = tuple[Literal["absent", "disabled", "enabled"], Setting, Setting]
Operator = tuple[Literal["absent", "disabled", "enabled"], Setting]

DRAS: list[Dra] = [("absent", "unset", "unset")]
DRAS += [(state, gpus, waiver) for state in ("disabled", "enabled") for gpus, waiver in product(SETTINGS, SETTINGS)]
OPERATORS: list[Operator] = [("absent", "unset")]
OPERATORS += [(state, plugin) for state in ("disabled", "enabled") for plugin in SETTINGS]


def oracle(advertiser: str, driver: Dra, operator: Operator, second: bool) -> str:
    """The table of the order, line by line, the first that is true wins; it shares nothing with the code."""
    gpus, waiver = driver[1:] if driver[0] == "enabled" else ("off", "off")
    plugin = operator[1] if operator[0] == "enabled" else "true" if second else "off"
    plugs = plugin in ("unset", "true")
    external = advertiser == "external"
    table = [
        (second and operator[0] == "enabled", "two-operators"),
        (gpus == "malformed", "malformed-value"),
        (gpus == "unset", "switch-not-pinned"),
        (waiver == "malformed", "malformed-value"),
        (plugin == "malformed", "malformed-value"),
        (external and plugs, "dual-advertisement"),
        (external and gpus == "true", "dual-advertisement"),
        (external and waiver == "true", "inert-waiver"),
        (external, PLUGIN),
        (gpus == "true" and waiver != "true", "chart-guard"),
        (gpus == "true" and plugs, "dual-advertisement"),
        (gpus != "true" and not plugs, "no-advertiser"),
        (waiver == "true" and gpus != "true", "inert-waiver"),
        (gpus == "true", CLAIM),
    ]
    return next((verdict for holds, verdict in table if holds), PLUGIN)


def values_of(driver: Dra, operator: Operator, second: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    state, gpus, waiver = driver
    if state != "absent":
        values[DRA] = {"enabled": state == "enabled"}
        if gpus != "unset":
            values[DRA]["resources"] = {"gpus": {"enabled": WRITTEN[gpus]}}
        if waiver != "unset":
            values[DRA]["gpuResourcesEnabledOverride"] = WRITTEN[waiver]
    if operator[0] != "absent":
        values[OP] = {"enabled": operator[0] == "enabled"}
        if operator[1] != "unset":
            values[OP]["devicePlugin"] = {"enabled": WRITTEN[operator[1]]}
    if second:
        values[OCP] = op(T)
    return values


COMBINATIONS = list(product(("", "external"), DRAS, OPERATORS, (False, True)))


def test_every_combination_gives_what_the_order_says_and_exactly_one_finding():
    seen: Counter[str] = Counter()
    for advertiser, driver, operator, second in COMBINATIONS:
        values = values_of(driver, operator, second)
        expected = oracle(advertiser, driver, operator, second)
        case = (advertiser, driver, operator, second)
        assert verdict(values, advertiser) == expected, case
        about_values = [
            finding.rule.name
            for finding in judge(read_stack(values, advertiser))
            if finding.rule.id.startswith(("AKSGPU00", "AKSGPU30", "AKSGPU31"))
        ]
        fine = expected in (PLUGIN, CLAIM) or not values
        assert about_values == ([] if fine else [expected]), case
        seen[expected] += 1
    assert len(COMBINATIONS) == 2 * 33 * 9 * 2 == sum(seen.values())
    assert set(seen) == {
        PLUGIN, CLAIM, "two-operators", "malformed-value", "switch-not-pinned", "chart-guard", "dual-advertisement",
        "no-advertiser", "inert-waiver",
    }  # fmt: skip
    assert min(seen.values()) >= 5


@pytest.mark.parametrize(
    ("values", "advertiser", "expected"),
    [
        ({}, "", None),
        ({}, "external", None),
        ({}, "csp", "unknown-advertiser"),
        ({"nvsentinel": {}}, "", None),
        ({DRA: {"enabled": False}}, "", "no-advertiser"),
    ],
)
def test_only_charts_that_hand_out_gpus_have_an_answer(values: dict[str, Any], advertiser: str, expected: str | None):
    found = allocation_of(read_stack(values, advertiser))
    assert (found.verdict if found else None) == expected


def test_nothing_given_is_no_answer():
    assert allocation_of(Estate()) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # Whatever the unknown value becomes, the answer is the same.
        ({DRA: dra(T, F), OP: op(UNKNOWN)}, "chart-guard"),
        ({DRA: dra(F, T), OP: op(T)}, "inert-waiver"),
        ({DRA: dra(None, UNKNOWN), OP: op(UNKNOWN)}, "switch-not-pinned"),
        ({DRA: dra(F, F), OP: op(UNKNOWN)}, "undecided"),
        ({DRA: UNKNOWN, OP: op(T)}, "undecided"),
        ({DRA: dra(T, "yes"), OP: UNKNOWN}, "malformed-value"),
    ],
)
def test_unknown_values_decide_nothing_that_they_could_change(values: dict[str, Any], expected: str):
    assert verdict(values) == expected


def test_messages_name_component_value_and_place():
    found = next(item for item in judge(read_stack({DRA: dra(T, F), OP: op(T)})) if item.rule.name == "chart-guard")
    assert f"{DRA} has resources.gpus.enabled true without gpuResourcesEnabledOverride true" in found.verdict.message
    assert found.verdict.place.object == f"values of {DRA}"
    assert found.verdict.place.path == "resources.gpus.enabled"
