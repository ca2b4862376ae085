"""The admission policies on the real API server refuse what the rules refuse, and nothing else."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from aksgpu.reporters import admission
from aksgpu.reporters.admission.objects import API
from aksgpu.rules import examples
from aksgpu.rules.examples import Example
from aksgpu.rules.model import Rule
from tests.cluster.admission import RULES, Api, completed, objects, pools_of, verdict
from tests.cluster.harness import Cluster, eventually

NAMES = admission.Names("book")
CASES = [(rule, example) for rule in RULES for example in examples.load(rule)]
IDS = [f"{rule.name}: {example.verdict}: {example.title}" for rule, example in CASES]
POOLS = list({str(pools_of(example)): pools_of(example) for _, example in CASES}.values())

UNSEEN = {
    # Charts are judged before they are installed; admission sees the objects that they make.
    ("dual-advertisement", "The GPU Operator, whose device plugin is on by default"),
    ("dual-advertisement", "NVIDIA's DRA driver on a pool that already has AKS's"),
    # Both are needed to break the rule, and admission sees one object at a time.
    ("dual-advertisement", "Operator and DRA driver on an unmanaged pool"),
}
"""Failing examples in which no single object is refused."""


@pytest.fixture(scope="module")
def api(shared_cluster: Cluster) -> Iterator[Api]:
    """The API server with every policy; in namespaces labelled `mode: warn` they warn, with `mode: enforce` refuse."""
    api = Api(shared_cluster.kubeconfig.read_text())
    made = [space for number in range(len(POOLS)) for mode in ("warn", "enforce") for space in _space(number, mode)]
    made += [item for rule in RULES for item in _in_force(rule)]
    with in_force(api, made):
        yield api


@contextmanager
def in_force(api: Api, made: list[dict[str, Any]]) -> Generator[None]:
    """Create objects, policies among them, and wait until these are in force: when one that was made last is."""
    last = _last()
    for item in (*made, *last):
        api.make(item)
    probe = admission.pool_map({}, admission.Names("probe"))
    probe["metadata"]["namespace"] = "default"
    eventually(lambda: api.create(probe).denied_by, "the last policy")
    yield
    for item in (*last, *reversed(made)):
        if item["kind"] != "ConfigMap":
            api.delete(item)


def _last() -> list[dict[str, Any]]:
    """A policy that refuses one ConfigMap."""
    metadata = {"name": "last"}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    spec = {
        "matchConstraints": {"resourceRules": [{**rule, "resourceNames": ["probe-gpu-pools"]}]},
        "validations": [{"expression": "false"}],
    }
    kind = "ValidatingAdmissionPolicy"
    return [
        {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec},
        {"apiVersion": API, "kind": f"{kind}Binding", "metadata": metadata}
        | {"spec": {"policyName": "last", "validationActions": ["Deny"]}},
    ]


def _in_force(rule: Rule) -> Iterator[dict[str, Any]]:
    """A policy with two bindings; they find the pools in the namespace of the object that they judge."""
    yield admission.policy(rule, NAMES)
    for mode in ("warn", "enforce"):
        bound = admission.binding(rule, mode, NAMES)
        bound["metadata"]["name"] += f"-{mode}"
        bound["spec"].get("paramRef", {}).pop("namespace", None)
        bound["spec"]["matchResources"] = {"namespaceSelector": {"matchLabels": {"mode": mode}}}
        yield bound


def _space(number: int, mode: str) -> Iterator[dict[str, Any]]:
    name = f"book-{number}-{mode}"
    space = admission.namespace(NAMES)
    space["metadata"] = {"name": name, "labels": {"mode": mode}}
    pools = admission.pool_map(POOLS[number], NAMES)
    pools["metadata"]["namespace"] = name
    yield from (space, pools)


def _space_of(example: Example, mode: str) -> str:
    return f"book-{POOLS.index(pools_of(example))}-{mode}"


@pytest.mark.parametrize(("rule", "example"), CASES, ids=IDS)
def test_an_example_is_judged_as_the_rule_does(api: Api, rule: Rule, example: Example):
    refused = set()
    for given in objects(example):
        item = completed(given, _space_of(example, "warn"))
        said = {entry.name: verdict(entry, example, item) for entry in RULES}
        warned = api.create(item).warned
        told = {entry.name: "fail" if NAMES.policy(entry) in warned else "pass" for entry in RULES}
        assert {name: told[name] for name in told if said[name] != "undecided"} == {
            name: text for name, text in said.items() if text != "undecided"
        }
        item["metadata"]["namespace"] = _space_of(example, "enforce")
        denied = api.create(item).denied_by
        errors = {NAMES.policy(entry) for entry in RULES if entry.severity == "error"}
        assert (denied is not None) == bool(warned & errors)
        refused |= {name for name, text in told.items() if text == "fail"}
    if example.verdict == "fail":
        assert (rule.name not in refused) == ((rule.name, example.title) in UNSEEN)
