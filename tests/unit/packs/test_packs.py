"""The policies, with the arguments that the policy SDK makes."""

from collections.abc import Iterator
from typing import Any

import pytest
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyCustomTimeouts,
    PolicyProviderResource,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from aksgpu import packs
from aksgpu.packs import request_facts
from aksgpu.packs.policies import EXEMPTED, EXEMPTED_ACROSS
from aksgpu.rules.book import BOOK

POOL = "azure-native:resources:Resource"
CLUSTER = "azure-native:containerservice:ManagedCluster"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
REPORTING = {EXEMPTED, EXEMPTED_ACROSS}


def options(parent: str | None = None) -> PolicyResourceOptions:
    return PolicyResourceOptions(
        protect=False,
        ignore_changes=[],
        delete_before_replace=None,
        aliases=[],
        custom_timeouts=PolicyCustomTimeouts(0, 0, 0),
        additional_secret_outputs=[],
        parent=parent,
    )


def pool(parent: str = "managedClusters/aks", **properties: Any) -> dict[str, Any]:
    nvidia = {"managementMode": "Managed", "driverMode": "DRA"}
    return {
        "apiVersion": "2026-08-02-preview",
        "resourceGroupName": "rg",
        "resourceProviderNamespace": "Microsoft.ContainerService",
        "parentResourcePath": parent,
        "resourceType": "agentPools",
        "resourceName": "gpunp",
        "properties": {"vmSize": "Standard_NC24ads_A100_v4", "gpuProfile": {"nvidia": nvidia}, **properties},
    }


def resource_args(type_: str, props: dict[str, Any], urn: str = "urn::gpunp") -> ResourceValidationArgs:
    return ResourceValidationArgs(type_, unknown_checking_proxy(props), urn, "gpunp", options(), None)


def resource(
    type_: str,
    props: dict[str, Any],
    urn: str,
    owner: PolicyResource | None = None,
    provider: PolicyProviderResource | None = None,
) -> PolicyResource:
    owners = {"parentResourcePath": [owner]} if owner else {}
    proxy = unknown_checking_proxy(props)
    return PolicyResource(type_, proxy, urn, "name", options(), provider, None, [owner] if owner else [], owners)


Args = ResourceValidationArgs | StackValidationArgs


def run(policies: list[Policy], args: Args) -> Iterator[tuple[str, str]]:
    """Yield policy and message as the SDK would: policies in order, unknown values as the SDK catches them."""
    for policy in policies:
        messages: list[str] = []
        try:
            _validate(policy, args, messages)
        except UnknownValueError as error:
            messages.append(f"waits: {error.message}")
        yield from ((policy.name, message) for message in messages)


def _validate(policy: Policy, args: Args, messages: list[str]) -> None:
    def report(message: str, _urn: str | None = None) -> None:
        messages.append(message)

    if isinstance(policy, ResourceValidationPolicy) and isinstance(args, ResourceValidationArgs):
        policy.validate(args, report)
    if isinstance(policy, StackValidationPolicy) and isinstance(args, StackValidationArgs):
        policy.validate(args, report)


def said(policies: list[Policy], args: Args) -> set[str]:
    return {name for name, _ in run(policies, args)}


def test_each_rule_is_one_named_policy_of_the_right_pack():
    mandatory, advisory = packs.guardrails(), packs.advice()
    for level, policies in ((EnforcementLevel.MANDATORY, mandatory), (EnforcementLevel.ADVISORY, advisory)):
        assert policies
        for policy in (policy for policy in policies if policy.name not in REPORTING):
            entry = next(entry for entry in BOOK if entry.name == policy.name)
            assert policy.enforcement_level is level
            assert (entry.severity == "error") == (level is EnforcementLevel.MANDATORY)
            assert policy.description == entry.summary
            assert policy.remediation_steps == entry.fix
            assert policy.severity is not None
            assert policy.framework is not None
            assert isinstance(policy, StackValidationPolicy) == entry.across
            assert policy.config_schema is not None
            assert set(policy.config_schema.properties) == {"exemptions"}
        assert {policy.name for policy in policies[-2:]} == REPORTING
    names = [policy.name for policy in (*mandatory, *advisory) if policy.name not in REPORTING]
    assert sorted(names) == sorted(entry.name for entry in BOOK if entry.in_packs)


def test_a_broken_rule_is_reported_with_reason_and_fix():
    ((name, message),) = run(packs.guardrails(), resource_args(POOL, pool(enableAutoScaling=True)))
    assert name == "dra-with-autoscaler"
    assert all(word in message for word in ("Pool gpunp", "Why: ", "Fix: ", "AKSGPU202"))


def test_facts_of_a_request_are_read_once(monkeypatch: pytest.MonkeyPatch):
    reads: list[str] = []
    real = request_facts.read
    monkeypatch.setattr(request_facts, "read", lambda item: (reads.append(item.urn), real(item))[1])
    policies = packs.guardrails()
    list(run(policies, resource_args(POOL, pool())))
    assert len(reads) == 1
    list(run(policies, resource_args(POOL, pool())))
    assert len(reads) == 2


def test_the_next_request_for_the_same_resource_is_read_again():
    policies = packs.guardrails()
    assert said(policies, resource_args(POOL, pool())) == set()
    assert said(policies, resource_args(POOL, pool(enableAutoScaling=True))) == {"dra-with-autoscaler"}
    assert said(policies, resource_args(POOL, pool())) == set()


def test_a_single_enabled_policy_is_not_fooled_by_the_request_before():
    (policy,) = [policy for policy in packs.guardrails() if policy.name == "dra-with-autoscaler"]
    assert said([policy], resource_args(POOL, pool())) == set()
    assert said([policy], resource_args(POOL, pool(enableAutoScaling=True))) == {"dra-with-autoscaler"}


def test_resources_of_other_types_are_not_even_read():
    class Unreadable(dict[str, Any]):
        def __iter__(self) -> Iterator[str]:
            raise AssertionError("nobody has to read this")

    args = resource_args("kubernetes:core/v1:Secret", {})
    args.props = Unreadable()
    assert said(packs.guardrails(), args) == set()


def test_a_value_that_is_not_known_yet_makes_its_policies_wait_and_no_other():
    found = dict(run(packs.guardrails(), resource_args(POOL, pool(enableAutoScaling=UNKNOWN_STRING_VALUE))))
    assert list(found) == ["dra-with-autoscaler"]
    assert "waits: urn::gpunp" in found["dra-with-autoscaler"]
    assert "enableAutoScaling" in found["dra-with-autoscaler"]


def test_an_unknown_value_hides_no_violation_elsewhere():
    props = pool(enableAutoScaling=UNKNOWN_STRING_VALUE, osSKU="AzureContainerLinux")
    assert said(packs.guardrails(), resource_args(POOL, props)) == {"dra-with-autoscaler", "dra-os-sku"}


def test_a_pool_is_linked_to_the_cluster_it_depends_on_when_names_are_unknown():
    auto = {"nodeProvisioningProfile": {"mode": "Auto"}, "resourceName": "aks", "resourceGroupName": "rg"}
    cluster = resource(CLUSTER, auto, "urn::cluster")
    other = resource(CLUSTER, {"resourceName": "other", "resourceGroupName": "rg"}, "urn::other")
    mine = resource(POOL, pool(UNKNOWN_STRING_VALUE), "urn::gpunp", owner=cluster)
    found = dict(run(packs.guardrails(), StackValidationArgs([cluster, other, mine])))
    assert list(found) == ["dra-with-node-autoprovisioning"]
    assert not found["dra-with-node-autoprovisioning"].startswith("waits")


def test_without_that_dependency_the_rule_waits():
    auto = {"nodeProvisioningProfile": {"mode": "Auto"}, "resourceName": "aks", "resourceGroupName": "rg"}
    cluster = resource(CLUSTER, auto, "urn::cluster")
    mine = resource(POOL, pool(UNKNOWN_STRING_VALUE), "urn::gpunp")
    found = dict(run(packs.guardrails(), StackValidationArgs([cluster, mine])))
    assert found["dra-with-node-autoprovisioning"].startswith("waits")


def test_stack_policies_know_from_the_inputs_what_outputs_leave_out():
    policies = packs.guardrails()
    inputs = {"resourceName": "aks", "resourceGroupName": "rg", "nodeProvisioningProfile": {"mode": "Auto"}}
    list(run(policies, resource_args(CLUSTER, inputs, "urn::cluster")))
    list(run(policies, resource_args(POOL, pool(), "urn::gpunp")))
    outputs = [resource(CLUSTER, {"name": "aks"}, "urn::cluster"), resource(POOL, {"name": "gpunp"}, "urn::gpunp")]
    assert said(policies, StackValidationArgs(outputs)) == {"dra-with-node-autoprovisioning"}


def test_clusters_of_kubernetes_objects_are_told_by_their_provider():
    def plugin(cluster: str) -> PolicyResource:
        arm = f"/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/{cluster}"
        props = unknown_checking_proxy({"clusterIdentifier": arm})
        provider = PolicyProviderResource("pulumi:providers:kubernetes", props, "urn::provider", "provider")
        image = {"image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}
        body = {"metadata": {"name": "plugin"}, "spec": {"template": {"spec": {"containers": [image]}}}}
        return resource(DAEMON_SET, body, "urn::plugin", provider=provider)

    mine = resource(POOL, pool(), "urn::gpunp")
    assert said(packs.guardrails(), StackValidationArgs([mine, plugin("aks")])) == {"dual-advertisement"}
    assert said(packs.guardrails(), StackValidationArgs([mine, plugin("other")])) == set()


def test_a_chart_and_the_objects_it_makes_are_one_advertiser():
    chart = resource("kubernetes:helm.sh/v4:Chart", {"chart": "nvidia-device-plugin"}, "urn::chart")
    image = {"image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}
    body = {"metadata": {"name": "plugin"}, "spec": {"template": {"spec": {"containers": [image]}}}}
    child = resource(DAEMON_SET, body, "urn::child")
    child.opts = options("urn::chart")
    plain = pool()
    plain["properties"]["gpuProfile"] = {"nvidia": {"managementMode": "Unmanaged"}}
    mine = resource(POOL, plain, "urn::gpunp")
    assert said(packs.guardrails(), StackValidationArgs([mine, chart, child])) == set()
    stranger = resource(DAEMON_SET, body, "urn::stranger")
    assert said(packs.guardrails(), StackValidationArgs([mine, chart, stranger])) == {"dual-advertisement"}
