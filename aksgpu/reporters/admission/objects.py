"""Makes the Kubernetes objects: for each rule a policy with its binding."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from aksgpu.knowledge.system_namespaces import SYSTEM_NAMESPACES
from aksgpu.reporters.admission.parameters import pools_expression
from aksgpu.reporters.admission.templates import POD_SPEC, Template, template

Mode = Literal["enforce", "warn"]
"""`enforce` refuses what breaks a rule of severity error; `warn` only says so, for every rule."""

API: Final = "admissionregistration.k8s.io/v1"

_TEMPLATED = [
    {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "resources": ["daemonsets", "deployments", "replicasets", "statefulsets"],
    },
    {"apiGroups": ["batch"], "apiVersions": ["v1"], "resources": ["cronjobs", "jobs"]},
    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["replicationcontrollers"]},
]
_CORE = {"apiGroups": [""], "apiVersions": ["v1"]}
MATCHED: Final = {
    "pods": [
        {**_CORE, "operations": ["CREATE"], "resources": ["pods"]},
        *({**rule, "operations": ["CREATE", "UPDATE"]} for rule in _TEMPLATED),
    ],
    "claims": [
        {
            "apiGroups": ["resource.k8s.io"],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["resourceclaims", "resourceclaimtemplates"],
        }
    ],
}
"""What a policy is asked about. The spec of pods and claims doesn't change, but for containers added for debugging."""

_DEBUGGING = {**_CORE, "operations": ["UPDATE"], "resources": ["pods/ephemeralcontainers"]}


class Described(Protocol):
    """What is needed of a rule."""

    @property
    def id(self) -> str:
        """`AKSGPU701`."""
        ...

    @property
    def name(self) -> str:
        """Kebab-case."""
        ...

    @property
    def severity(self) -> str:
        """`error`, `warning` or `info`."""
        ...

    @property
    def summary(self) -> str:
        """What must hold, in a sentence."""
        ...

    @property
    def fix(self) -> str:
        """The way out, in a sentence or two."""
        ...


@dataclass(frozen=True)
class Names:
    """What the objects are called. Two sets with different prefixes can be in one cluster."""

    prefix: str = "aksgpu"

    def policy(self, rule: Described) -> str:
        """A policy and its binding."""
        return f"{self.prefix}-{rule.name}"


def policy(rule: Described, pools: Sequence[Mapping[str, Any]], names: Names) -> dict[str, Any]:
    """Return the policy of a rule; `pools` is what `pool_data` returns."""
    written = template(rule.name)
    variables = written.variables | ({"pools": pools_expression(pools)} if written.pools else {})
    spec: dict[str, Any] = {
        "failurePolicy": "Fail",
        "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": _resource_rules(written)},
        "matchConditions": _conditions(written),
        "variables": [{"name": name, "expression": text} for name, text in variables.items()],
        "validations": [
            {
                "expression": f"!({written.refuses})",
                "messageExpression": _message(rule, written),
                "message": f"{rule.id} {rule.name}: {rule.summary} Fix: {rule.fix}",
            }
        ],
    }
    if not spec["matchConditions"]:
        del spec["matchConditions"]
    metadata = {"name": names.policy(rule)}
    return {"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec}


def binding(rule: Described, mode: Mode, names: Names) -> dict[str, Any]:
    """Return what puts the policy of a rule in force."""
    written = template(rule.name)
    refuses = mode == "enforce" and rule.severity == "error"
    spec: dict[str, Any] = {
        "policyName": names.policy(rule),
        "validationActions": ["Deny" if refuses else "Warn", "Audit"],
    }
    if not written.everywhere:
        spec["matchResources"] = {"namespaceSelector": {"matchExpressions": _outside_system()}}
    metadata = {"name": names.policy(rule)}
    return {"apiVersion": API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": spec}


def _outside_system() -> list[dict[str, Any]]:
    return [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(SYSTEM_NAMESPACES)},
        # AKS marks the namespaces that it manages with these two.
        {"key": "kubernetes.azure.com/managedby", "operator": "NotIn", "values": ["aks"]},
        {"key": "control-plane", "operator": "NotIn", "values": ["true"]},
    ]


def _resource_rules(written: Template) -> list[dict[str, Any]]:
    return [*MATCHED[written.judges], *([_DEBUGGING] if written.debugging else [])]


def _conditions(written: Template) -> list[dict[str, str]]:
    """Leave alone what an update doesn't change, so that objects from before can be scaled, relabelled and deleted."""
    if written.judges != "pods":
        return []
    before, after = POD_SPEC.format("oldObject"), POD_SPEC.format("object")
    conditions = [
        {"name": "pods-change", "expression": f"request.operation == 'CREATE' ||\n({after})\n!= ({before})"},
    ]
    if written.pools:
        # The controller replaces the node affinity of the pods it makes by the name of a node; the DaemonSet is judged.
        conditions.append(
            {
                "name": "not-of-a-daemonset",
                "expression": (
                    "object.kind != 'Pod' || !object.metadata.?ownerReferences.orValue([])"
                    ".exists(owner, owner.kind == 'DaemonSet' && owner.?controller.orValue(false))"
                ),
            }
        )
    return conditions


def _message(rule: Described, written: Template) -> str:
    start, end = (json.dumps(text, ensure_ascii=False) for text in (f"{rule.id} {rule.name}: ", f" Fix: {rule.fix}"))
    return f"{start} + {written.says} + {end}"
