"""Whom admission policies leave alone, what happens without the pools, and what large objects cost."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from aksgpu.reporters import admission
from aksgpu.reporters.admission.objects import SYSTEM_NAMESPACES
from tests.cluster.admission import Api, completed, described
from tests.cluster.harness import Cluster
from tests.cluster.policies import in_force

NAMES = admission.Names("scope")
RULES = described()
OLD, FRESH = "scope-old", "scope-fresh"
POOLS = [
    {
        "name": f"pool{number}",
        "advertiser": "dra",
        "labels": {f"team-{label}": f"value-{label}" for label in range(20)},
        "taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}],
    }
    for number in range(40)
]
NULL_MOUNT = {
    "containers": [{"volumeMounts": [{"name": "null", "mountPath": "/var/run/nvidia-container-devices/0"}]}],
    "volumes": [{"name": "null", "hostPath": {"path": "/dev/null"}}],
}
PLUGIN = {
    "tolerations": [{"operator": "Exists"}],
    "containers": [{"image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}],
}


def workload(kind: str, name: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    """A valid object with this pod spec."""
    spec = copy.deepcopy(spec)
    if kind == "Pod":
        return completed({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec}, namespace)
    item = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": {"template": {"spec": spec}}}
    return completed(item, namespace)


@pytest.fixture(scope="module")
def api(shared_cluster: Cluster) -> Iterator[Api]:
    """The policies as they are deployed, and objects in a namespace from before."""
    api = Api(shared_cluster.kubeconfig.read_text())
    before = [_space(OLD), workload("Deployment", "old", OLD, NULL_MOUNT), workload("Pod", "old", OLD, NULL_MOUNT)]
    before[1]["spec"]["replicas"] = 0
    made = [*before, _space(FRESH), _space("gpu-operator")]
    for rule in RULES:
        made += [admission.policy(rule, POOLS, NAMES), admission.binding(rule, "enforce", NAMES)]
    with in_force(api, made):
        yield api


def _space(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_an_object_from_before_can_be_kept_up_but_not_made_anew(api: Api, kind: str):
    old = api.get(workload(kind, "old", OLD, NULL_MOUNT))
    old["metadata"]["labels"] = {"team": "a"}
    assert api.update(old).denied_by is None
    again = workload(kind, "again", OLD, NULL_MOUNT)
    assert api.create(again).denied_by == "scope-null-device-mount"


def test_a_controller_from_before_can_be_scaled_but_not_change_its_pods(api: Api):
    old = api.get(workload("Deployment", "old", OLD, NULL_MOUNT))
    old["spec"]["replicas"] = 2
    assert api.update(old).denied_by is None
    old["spec"]["template"]["metadata"]["labels"]["new"] = "label"
    assert api.update(old).denied_by is None
    old["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    assert api.update(old).denied_by == "scope-null-device-mount"


def test_a_container_that_is_added_for_debugging_is_judged(api: Api):
    running = api.get(workload("Pod", "old", OLD, NULL_MOUNT))
    running["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "example"}]
    assert api.update(running, "/ephemeralcontainers").denied_by == "scope-null-device-mount"


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public", "gpu-operator"])
def test_system_namespaces_are_left_alone_but_for_advertisers(api: Api, namespace: str):
    assert namespace in SYSTEM_NAMESPACES
    assert api.create(workload("DaemonSet", "driver", namespace, NULL_MOUNT)).denied_by is None
    assert api.create(workload("DaemonSet", "plugin", namespace, PLUGIN)).denied_by == "scope-dual-advertisement"


def test_a_pod_of_a_daemon_set_is_not_judged_by_where_it_may_run(api: Api):
    pod = workload("Pod", "plugin-x7k2p", FRESH, PLUGIN)
    assert api.create(pod).denied_by == "scope-dual-advertisement"
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "plugin", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    assert api.create(pod).denied_by is None


def test_the_largest_objects_stay_within_the_cost_limits(api: Api):
    """More pools than AKS clusters have with GPUs, and a pod of 60 containers with 100 variables each."""
    containers = [
        {
            "image": f"registry.example.com/team/{'long-' * 20}{number}:1",
            "command": ["sh", "-c", "exec serve --all " + "x" * 500],
            "env": [{"name": f"VARIABLE_{entry}", "value": "x" * 50} for entry in range(100)],
            "volumeMounts": [{"name": f"volume-{entry}", "mountPath": f"/mnt/{entry}"} for entry in range(20)],
        }
        for number in range(60)
    ]
    spec = {
        "containers": containers,
        "volumes": [{"name": f"volume-{entry}", "hostPath": {"path": f"/data/{entry}"}} for entry in range(20)],
        "nodeSelector": {f"team-{label}": f"value-{label}" for label in range(20)},
        "tolerations": [{"key": f"key-{number}", "operator": "Exists"} for number in range(20)],
    }
    answer = api.create(workload("Pod", "large", FRESH, spec))
    assert (answer.status, answer.message) == (201, "")
    spec["containers"][-1]["image"] = "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"
    spec["tolerations"].append({"operator": "Exists"})
    assert api.create(workload("Pod", "large", FRESH, spec)).denied_by == "scope-dual-advertisement"
