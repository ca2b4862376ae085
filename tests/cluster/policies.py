"""Puts admission policies in force and knows when they are."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from aksgpu.reporters.admission.objects import API
from tests.cluster.admission import Api
from tests.cluster.harness import eventually


@contextmanager
def in_force(api: Api, made: list[dict[str, Any]]) -> Generator[None]:
    """Create objects, policies among them, and wait until these are in force: when one that was made last is."""
    last = _last()
    for item in (*made, *last):
        api.make(item)
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": "default"}}
    eventually(lambda: api.create(probe).denied_by, "the last policy")
    yield
    for item in reversed((*made, *last)):
        api.delete(item)
    # The next policy of that name must not be taken for this one.
    eventually(lambda: api.create(probe).denied_by is None, "the end of the last policy")


def _last() -> list[dict[str, Any]]:
    """A policy that refuses one ConfigMap."""
    metadata = {"name": "last"}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    spec = {
        "matchConstraints": {"resourceRules": [{**rule, "resourceNames": ["probe"]}]},
        "validations": [{"expression": "false"}],
    }
    kind = "ValidatingAdmissionPolicy"
    return [
        {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec},
        {"apiVersion": API, "kind": f"{kind}Binding", "metadata": metadata}
        | {"spec": {"policyName": "last", "validationActions": ["Deny"]}},
    ]
