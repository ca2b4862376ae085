"""Asks the API server about objects of the rules' examples, without storing them."""

import copy
import re
from dataclasses import dataclass
from typing import Any

import httpx2

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.readers.kube import Kube
from aksgpu.readers.kube_objects import read_object
from aksgpu.reporters import admission
from aksgpu.reporters.admission.objects import MATCHED
from aksgpu.rules.book import BOOK
from aksgpu.rules.examples import Example
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Rule
from tests.unit.rules import book_examples

RULES = [rule for rule in BOOK if "admission" in rule.prevents]
PLURALS = {
    "Namespace": "namespaces",
    "ConfigMap": "configmaps",
    "Pod": "pods",
    "ReplicationController": "replicationcontrollers",
    "Deployment": "deployments",
    "ReplicaSet": "replicasets",
    "StatefulSet": "statefulsets",
    "DaemonSet": "daemonsets",
    "Job": "jobs",
    "CronJob": "cronjobs",
    "ResourceClaim": "resourceclaims",
    "ResourceClaimTemplate": "resourceclaimtemplates",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}
JUDGED = {
    kind
    for kind, plural in PLURALS.items()
    if any(plural in rule["resources"] for rules in MATCHED.values() for rule in rules)
}
_WARNED = re.compile(r"ValidatingAdmissionPolicy '([^']+)' with binding")


@dataclass(frozen=True)
class Described:
    """A rule as far as a policy needs it, for what doesn't depend on what its rule says."""

    name: str
    id: str = "AKSGPU999"
    severity: str = "error"
    summary: str = "Holds."
    fix: str = "Do it."


def described() -> list[Described]:
    """Return one for each policy that is written."""
    return [Described(name) for name in sorted(admission.covered())]


@dataclass(frozen=True)
class Answer:
    """What the API server says about an object."""

    status: int
    message: str
    warned: frozenset[str]
    """Policies that warn."""

    @property
    def denied_by(self) -> str | None:
        """The policy that refused it; None when it wasn't refused. Anything else that is wrong fails the test."""
        if self.status in (200, 201):
            return None
        found = _WARNED.search(self.message)
        assert found is not None, self.message
        assert self.status == 422, self.message
        return found[1]


class Api:
    """The API server."""

    def __init__(self, kubeconfig: str) -> None:
        self._http: httpx2.Client = Kube(kubeconfig)._http

    def create(self, item: dict[str, Any], *, dry: bool = True) -> Answer:
        """Ask it to create an object."""
        return self._answer(self._http.post(_collection(item), json=item, params=_dry(dry)))

    def update(self, item: dict[str, Any], subresource: str = "", *, dry: bool = True) -> Answer:
        """Ask it to replace an object by another."""
        return self._answer(self._http.put(f"{_path(item)}{subresource}", json=item, params=_dry(dry)))

    def get(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return an object as it is."""
        return dict(self._http.get(_path(item)).raise_for_status().json())

    def make(self, item: dict[str, Any]) -> None:
        """Create an object for good."""
        answer = self.create(item, dry=False)
        assert answer.status == 201, answer.message

    def delete(self, item: dict[str, Any]) -> None:
        """Delete an object."""
        self._http.delete(_path(item)).raise_for_status()

    @staticmethod
    def _answer(response: httpx2.Response) -> Answer:
        warned = _WARNED.findall(" ".join(response.headers.get_list("warning")))
        return Answer(response.status_code, response.json().get("message", ""), frozenset(warned))


def _dry(dry: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry else {}


def _collection(item: dict[str, Any]) -> str:
    version = item["apiVersion"]
    namespace = item["metadata"].get("namespace")
    scope = f"/namespaces/{namespace}" if namespace else ""
    return f"/{'apis' if '/' in version else 'api'}/{version}{scope}/{PLURALS[item['kind']]}"


def _path(item: dict[str, Any]) -> str:
    return f"{_collection(item)}/{item['metadata']['name']}"


def objects(example: Example) -> list[dict[str, Any]]:
    """Return the objects of an example that policies are asked about; charts are none."""
    typed = [
        {"apiVersion": version if (version := item.type.split(":")[1]).partition("/")[0] != "core" else "v1"}
        | {"kind": item.type.rpartition(":")[2], **item.properties}
        for item in example.resources
        if item.type.startswith("kubernetes:")
    ]
    return [item for item in (*example.manifests, *typed) if item["kind"] in JUDGED]


def completed(item: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return an object that the API server takes for valid: examples leave out what their rule doesn't look at."""
    item = copy.deepcopy(item)
    metadata = item.setdefault("metadata", {})
    metadata["namespace"] = namespace
    metadata.setdefault("name", "example")
    spec = item.setdefault("spec", {})
    if item["kind"] in ("ResourceClaim", "ResourceClaimTemplate"):
        return item
    if item["kind"] == "CronJob":
        spec.setdefault("schedule", "@daily")
        spec = spec["jobTemplate"]["spec"]
    template = item if item["kind"] == "Pod" else spec["template"]
    if item["kind"] not in ("Pod", "Job", "CronJob"):
        labels = template.setdefault("metadata", {}).setdefault("labels", {}) or {"app": "example"}
        template["metadata"]["labels"] = labels
        spec.setdefault("selector", labels if item["kind"] == "ReplicationController" else {"matchLabels": labels})
    if item["kind"] in ("Job", "CronJob"):
        template["spec"].setdefault("restartPolicy", "Never")
    for index, container in enumerate((*template["spec"]["containers"], *template["spec"].get("initContainers", []))):
        container.setdefault("name", f"container-{index}")
        container.setdefault("image", "example")
    return item


def pools_of(example: Example) -> list[dict[str, Any]]:
    """Return the pools of an example as policies get them."""
    pools = book_examples.estate(example).pools
    return admission.pool_data(pool for pool in pools if has_gpus(pool) is not False)


def verdict(rule: Rule, example: Example, item: dict[str, Any]) -> str:
    """Return what a rule says about the pools of an example and one object: what admission sees."""
    place = Place(object=f"{item['kind']} {item['metadata']['name']}")
    facts = read_object(item["apiVersion"], item["kind"], item, place)
    pools = Estate(pools=book_examples.estate(example).pools)
    found = [finding.undecided for finding in rule.check(Estate.merge([pools, facts]))]
    return "pass" if not found else "undecided" if all(found) else "fail"
