"""Admission policies as data; what they refuse is tested on the real API server."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any

import pytest
import yaml

from aksgpu.facts.base import Place
from aksgpu.facts.nodes import Taint
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.facts.truth import UNKNOWN
from aksgpu.reporters import admission
from aksgpu.reporters.admission.text import EXAMPLE_POOLS
from aksgpu.rules.book import BOOK

RULES = [rule for rule in BOOK if "admission" in rule.prevents]
NAMES = admission.Names()


@dataclass(frozen=True)
class Described:
    """A rule, as far as a policy needs it."""

    id: str = "AKSGPU999"
    name: str = "dual-advertisement"
    severity: str = "error"
    summary: str = "Holds."
    fix: str = "Do it."


def parsed(text: str) -> list[Any]:
    return list(yaml.safe_load_all(text))


def test_a_rule_has_a_policy_if_and_only_if_it_says_so():
    assert {rule.name for rule in RULES} == admission.covered() & {rule.name for rule in BOOK}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_policy_fails_closed_and_carries_the_rule(rule):
    spec = admission.policy(rule, EXAMPLE_POOLS, NAMES)["spec"]
    assert spec["failurePolicy"] == "Fail"
    (validation,) = spec["validations"]
    assert rule.summary in validation["message"]
    assert rule.fix in validation["message"]
    assert "\n" not in validation["message"]
    assert rule.id in validation["messageExpression"]
    written = json.dumps(spec)
    assert "%(" not in written
    names = [variable["name"] for variable in spec["variables"]]
    assert set(names) == set(re.findall(r"variables\.(\w+)", written))


@pytest.mark.parametrize(
    ("severity", "mode", "actions"),
    [
        ("error", "enforce", ["Deny", "Audit"]),
        ("warning", "enforce", ["Warn", "Audit"]),
        ("error", "warn", ["Warn", "Audit"]),
        ("warning", "warn", ["Warn", "Audit"]),
    ],
)
def test_severity_and_mode_decide_what_happens(severity: str, mode: admission.Mode, actions: list[str]):
    rule = replace(Described(), severity=severity)
    assert admission.binding(rule, mode, NAMES)["spec"]["validationActions"] == actions


def test_texts_of_a_rule_can_hold_anything():
    rule = replace(Described(), fix="Say \"no\" to 'it', \\n and ümlauts: ${x}.")
    assert admission.policy(rule, EXAMPLE_POOLS, NAMES)["spec"]["validations"][0]["messageExpression"].endswith(
        r'''" Fix: Say \"no\" to 'it', \\n and ümlauts: ${x}."'''
    )
    (found,) = [item for item in parsed(admission.text([rule])) if item["kind"] == "ValidatingAdmissionPolicy"]
    assert found == admission.policy(rule, EXAMPLE_POOLS, NAMES)


def test_the_text_is_everything_in_a_stable_order():
    text = admission.text(RULES)
    documents = parsed(text)
    assert [item["metadata"]["name"] for item in documents] == [
        f"aksgpu-{rule.name}" for rule in RULES for _ in range(2)
    ]
    assert text == admission.text(RULES)
    assert re.findall(r"^# (AKSGPU\d+)", text, re.MULTILINE) == [rule.id for rule in RULES]


def test_another_prefix_shares_no_name():
    texts = [parsed(admission.text(RULES, names=admission.Names(prefix))) for prefix in ("aksgpu", "team")]
    ours, theirs = ({(item["kind"], item["metadata"]["name"]) for item in documents} for documents in texts)
    assert not ours & theirs


def pool(**fields: Any) -> PoolFacts:
    return PoolFacts(place=Place(object="pool"), form=PoolForm(kind="settings"), **fields)


def test_a_pool_says_what_its_nodes_have():
    taints = (Taint(key="sku", value="gpu", effect="NoSchedule"), Taint(key="mine", effect="NoExecute"))
    given = pool(
        name="gpunp", management_mode="Managed", driver_mode="DRA", labels={"team": "a"}, taints=taints, mode="User"
    )
    assert admission.pool_data([given]) == [
        {
            "name": "gpunp",
            "advertiser": "dra",
            "labels": {
                "accelerator": "nvidia",
                "agentpool": "gpunp",
                "kubernetes.azure.com/accelerator": "nvidia",
                "kubernetes.azure.com/agentpool": "gpunp",
                "kubernetes.azure.com/mode": "user",
                "kubernetes.io/os": "linux",
                "team": "a",
            },
            "taints": [
                {"key": "sku", "value": "gpu", "effect": "NoSchedule"},
                {"key": "mine", "value": "", "effect": "NoExecute"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("fields", "advertiser"),
    [
        ({"management_mode": "Managed", "driver_mode": "DRA"}, "dra"),
        ({"management_mode": "Managed", "driver_mode": "DevicePlugin"}, "device-plugin"),
        ({"management_mode": "Managed"}, "device-plugin"),
        ({"management_mode": "Unmanaged"}, "none"),
        ({}, "none"),
    ],
)
def test_what_aks_runs_on_a_pool(fields: dict[str, str], advertiser: str):
    assert [found["advertiser"] for found in admission.pool_data([pool(name="one", **fields)])] == [advertiser]


def test_a_pool_without_a_known_name_is_left_out():
    assert admission.pool_data([pool(name=UNKNOWN)]) == []
