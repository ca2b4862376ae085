"""Every policy compiles at every minor that the twin offers, and its expressions fit the types of what it judges."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from aksgpu.reporters import admission
from aksgpu.reporters.admission.templates import POD_SPEC
from aksgpu.reporters.admission.text import EXAMPLE_POOLS
from tests.cluster.admission import Api, described
from tests.cluster.harness import Cluster, eventually, running

VERSIONS = ("1.33.7", "1.34.5", "1.35.4", "1.36.2")
NAMES = admission.Names("types")
RULES = described()
POOLS = EXAMPLE_POOLS
SHAPES = {
    "{0}.spec": {"pods", "pods/ephemeralcontainers"},
    "{0}.spec.jobTemplate.spec.template.spec": {"cronjobs"},
    "{0}.spec.template.spec": {
        "daemonsets",
        "deployments",
        "jobs",
        "replicasets",
        "replicationcontrollers",
        "statefulsets",
    },
}
"""Where kinds have their pod spec. A policy serves all of them, which hides its types from the API server."""


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("clusters") / "types", VERSIONS[0], []) as cluster:
        yield cluster


@pytest.mark.parametrize("version", VERSIONS)
def test_policies_compile_and_fit_the_types(upgraded: Cluster, version: str):
    upgraded.start(version)
    api = Api(upgraded.kubeconfig.read_text())
    made = [
        item
        for rule in RULES
        for item in (admission.policy(rule, POOLS, NAMES), *_typed(admission.policy(rule, POOLS, NAMES)))
    ]
    assert len(made) > len(RULES)
    assert {name: found for name, found in _warnings(api, made).items() if found} == {}


def test_a_type_that_does_not_fit_is_found(upgraded: Cluster):
    api = Api(upgraded.kubeconfig.read_text())
    text = json.dumps(next(_typed(admission.policy(RULES[0], POOLS, NAMES)))).replace("initContainers", "initContainer")
    wrong = json.loads(text)
    wrong["metadata"]["name"] = "wrong"
    assert "undefined field 'initContainer'" in str(_warnings(api, [wrong]))


def _typed(policy: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The policy once more for each shape, with the types that `dyn` and variables hide from the API server."""
    spec = policy["spec"]
    known = {item["name"]: item["expression"] for item in spec.pop("variables")}
    (validation,) = spec["validations"]
    for key in ("expression", "messageExpression"):
        validation[key] = _inlined(validation[key], known)
    for number, (path, resources) in enumerate(SHAPES.items()):
        text = json.dumps(policy)
        for name in ("object", "oldObject"):
            text = text.replace(json.dumps(POD_SPEC.format(name))[1:-1], path.format(name))
        shaped = json.loads(text)
        matched = shaped["spec"]["matchConstraints"]
        for rule in matched["resourceRules"]:
            rule["resources"] = [item for item in rule["resources"] if item in resources]
        matched["resourceRules"] = [rule for rule in matched["resourceRules"] if rule["resources"]]
        if matched["resourceRules"]:
            assert "dyn(object" not in json.dumps(shaped)
            shaped["metadata"]["name"] += f"-{number}"
            yield shaped


def _inlined(expression: str, known: dict[str, str]) -> str:
    return re.sub(r"variables\.(\w+)", lambda found: f"({_inlined(known[found[1]], known)})", expression)


def _warnings(api: Api, policies: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return what the API server finds about each policy; a policy that doesn't compile is refused."""
    made = []
    try:
        for item in policies:
            api.make(item)
            made.append(item)
        return {item["metadata"]["name"]: _checked(api, item).get("expressionWarnings", []) for item in made}
    finally:
        for item in made:
            api.delete(item)


def _checked(api: Api, policy: dict[str, Any]) -> dict[str, Any]:
    eventually(lambda: "typeChecking" in api.get(policy).get("status", {}), "the type check")
    return dict(api.get(policy)["status"]["typeChecking"])
