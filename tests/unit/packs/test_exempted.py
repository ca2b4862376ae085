"""What policies do with exemptions, with the arguments that the policy SDK makes."""

from datetime import date
from typing import Any

import pytest
from pulumi_policy import Policy, ResourceValidationArgs, StackValidationArgs
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from aksgpu import packs
from aksgpu.packs.policies import EXEMPTED, EXEMPTED_ACROSS
from tests.unit.packs.test_packs import CLUSTER, POOL, options, pool, resource, run

TODAY = date(2026, 12, 1)
URN = "urn:pulumi:dev::shop::azure-native:resources:Resource::gpunp"
REASON = "waits for the move in March"


def exempt(urn: str = URN, expires: str = "2027-03-31", reason: str = REASON) -> dict[str, Any]:
    return {"exemptions": [{"urn": urn, "reason": reason, "expires": expires}]}


def args(config: dict[str, Any], urn: str = URN, **properties: Any) -> ResourceValidationArgs:
    props = unknown_checking_proxy(pool(**properties))
    return ResourceValidationArgs(POOL, props, urn, "gpunp", options(), None, config)


def only(*names: str) -> list[Policy]:
    """The policies of these names, and those that report exempted findings."""
    return [policy for policy in packs.guardrails(TODAY) if policy.name in (*names, EXEMPTED, EXEMPTED_ACROSS)]


def test_an_exempted_finding_is_reported_by_the_advisory_policy_instead():
    found = list(run(only("dra-with-autoscaler"), args(exempt(), enableAutoScaling=True)))
    ((name, message),) = found
    assert name == EXEMPTED
    for part in ("AKSGPU202", "dra-with-autoscaler", "Pool gpunp", REASON, "2027-03-31", URN):
        assert part in message


def test_it_is_reported_once_and_again_at_the_next_request():
    policies = only("dra-with-autoscaler")
    for _ in range(3):
        assert len(list(run(policies, args(exempt(), enableAutoScaling=True)))) == 1
    assert list(run(policies, args(exempt()))) == []


def test_others_are_not_exempted():
    other = f"{URN}2"
    ((name, message),) = run(only("dra-with-autoscaler"), args(exempt(), other, enableAutoScaling=True))
    assert name == "dra-with-autoscaler"
    assert "xempt" not in message


def test_an_expired_exemption_no_longer_holds_and_says_so():
    expired = exempt(expires="2026-11-30")
    ((name, message),) = run(only("dra-with-autoscaler"), args(expired, enableAutoScaling=True))
    assert name == "dra-with-autoscaler"
    assert f"Its exemption ({REASON}) expired on 2026-11-30 and no longer holds." in message


@pytest.mark.parametrize("wrong", [{"reason": " "}, {"expires": "2027-02-30"}, {"urn": "*"}])
def test_a_wrong_exemption_is_a_violation_even_where_the_rule_finds_nothing(wrong: dict[str, str]):
    policies = only("dra-with-autoscaler")
    stack = ResourceValidationArgs(
        "pulumi:pulumi:Stack", unknown_checking_proxy({}), "urn:stack", "stack", options(), None, exempt(**wrong)
    )
    ((name, message),) = run(policies, stack)
    assert name == "dra-with-autoscaler"
    assert "exemptions[0] of policy dra-with-autoscaler does not hold" in message
    assert [name for name, _ in run(policies, args(exempt(**wrong), enableAutoScaling=True))] == ["dra-with-autoscaler"]


def test_what_waits_is_exempted_too():
    found = list(run(only("dra-with-autoscaler"), args(exempt(), enableAutoScaling=UNKNOWN_STRING_VALUE)))
    ((name, message),) = found
    assert name == EXEMPTED
    assert "enableAutoScaling" in message


def test_findings_across_resources_are_exempted_by_the_resource_they_name():
    auto = {"nodeProvisioningProfile": {"mode": "Auto"}, "resourceName": "aks", "resourceGroupName": "rg"}
    resources = [resource(CLUSTER, auto, "urn::cluster"), resource(POOL, pool(), URN)]
    rule = "dra-with-node-autoprovisioning"
    assert [name for name, _ in run(only(rule), StackValidationArgs(resources))] == [rule]
    ((name, message),) = run(only(rule), StackValidationArgs(resources, exempt()))
    assert name == EXEMPTED_ACROSS
    assert rule in message
