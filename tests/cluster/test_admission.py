"""The admission policies on the real API server refuse what the rules refuse, and nothing else."""

from collections.abc import Iterator
from typing import Any

import pytest

from aksgpu.reporters import admission
from aksgpu.rules import examples
from aksgpu.rules.examples import Example
from aksgpu.rules.model import Rule
from tests.cluster.admission import RULES, Api, completed, objects, pools_of, verdict
from tests.cluster.harness import Cluster
from tests.cluster.policies import in_force

CASES = [
    (rule, example)
    for rule in RULES
    for example in examples.load(rule)
    if example.verdict != "undecided"  # the API server sees every value
]
IDS = [f"{rule.name}: {example.verdict}: {example.title}" for rule, example in CASES]
POOLS = list({str(pools_of(example)): pools_of(example) for _, example in CASES}.values())
MODES: tuple[admission.Mode, ...] = ("warn", "enforce")

UNSEEN = {
    # Pools that nobody declared may serve a pod, unless its node selector names one by a label of its own.
    ("allocation-mismatch", "nvidia.com/gpu where only a DRA pool is"),
    ("gpu-pool-unreachable", "A missing toleration"),
    ("gpu-pool-unreachable", "A selector that no pool matches"),
    ("gpu-pool-unreachable", "A Spot pool, which AKS taints"),
    # What a claim is for is in another object.
    ("allocation-mismatch", "A claim whose Job selects the device-plugin pool"),
}
"""Rule and title of failing examples in which no single object is refused."""


@pytest.fixture(scope="module")
def api(shared_cluster: Cluster) -> Iterator[Api]:
    """The API server with every policy; there is a namespace for each set of pools and each mode."""
    api = Api(shared_cluster.kubeconfig.read_text())
    made = [_space(number, mode) for number in range(len(POOLS)) for mode in MODES]
    made += [admission.policy(rule, pools, _names(number)) for rule in RULES for number, pools in enumerate(POOLS)]
    made += [_bound(rule, number, mode) for rule in RULES for number in range(len(POOLS)) for mode in MODES]
    with in_force(api, made):
        yield api


def _names(number: int) -> admission.Names:
    return admission.Names(f"book-{number}")


def _space(number: int, mode: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"book-{number}-{mode}"}}


def _bound(rule: Rule, number: int, mode: admission.Mode) -> dict[str, Any]:
    """Bind the policy that knows one set of pools in one namespace."""
    bound = admission.binding(rule, mode, _names(number))
    bound["metadata"]["name"] += f"-{mode}"
    here = {"kubernetes.io/metadata.name": f"book-{number}-{mode}"}
    bound["spec"]["matchResources"] = {"namespaceSelector": {"matchLabels": here}}
    return bound


def _space_of(example: Example, mode: str) -> str:
    return f"book-{POOLS.index(pools_of(example))}-{mode}"


@pytest.mark.parametrize(("rule", "example"), CASES, ids=IDS)
def test_an_example_is_judged_as_the_rule_does(api: Api, rule: Rule, example: Example):
    refused = set()
    names = _names(POOLS.index(pools_of(example)))
    for given in objects(example):
        item = completed(given, _space_of(example, "warn"))
        said = {entry.name: verdict(entry, example, item) for entry in RULES}
        warned = api.create(item).warned
        told = {entry.name: "fail" if names.policy(entry) in warned else "pass" for entry in RULES}
        assert {name: told[name] for name in told if said[name] != "undecided"} == {
            name: text for name, text in said.items() if text != "undecided"
        }
        item["metadata"]["namespace"] = _space_of(example, "enforce")
        denied = api.create(item).denied_by
        errors = {names.policy(entry) for entry in RULES if entry.severity == "error"}
        assert (denied is not None) == bool(warned & errors)
        refused |= {name for name, text in told.items() if text == "fail"}
    if example.verdict == "fail" and objects(example):  # charts and pools don't reach the API server
        assert (rule.name not in refused) == ((rule.name, example.title) in UNSEEN)


def test_examples_are_enough_to_tell():
    """Of each rule's examples at least one has objects and fails, and one has objects and passes."""
    told = {(rule.name, example.verdict) for rule, example in CASES if objects(example)}
    assert {(rule.name, verdict) for rule in RULES for verdict in ("pass", "fail")} <= told
