"""Reading pods that ask for GPUs, in every kind of object, and nothing else."""

from typing import Any, TypeVar

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN, Maybe
from aksgpu.readers.kube_objects import read_object, reads

T = TypeVar("T")
PLACE = Place(object="test")
GPU = {"name": "train", "image": "example/train:1", "resources": {"limits": {"nvidia.com/gpu": 2, "cpu": "1"}}}
POD = {"containers": [GPU]}
TEMPLATE = {"spec": POD}


def listed(value: Maybe[tuple[T, ...]]) -> tuple[T, ...]:
    assert isinstance(value, tuple)
    return value


def read(api_version: str, kind: str, body: dict[str, Any]) -> Estate:
    assert reads(api_version, kind)
    return read_object(api_version, kind, {"metadata": {"name": "x", "namespace": "ml"}, **body}, PLACE)


@pytest.mark.parametrize(
    ("api_version", "kind", "body", "path", "replicas"),
    [
        ("v1", "Pod", {"spec": POD}, "spec", None),
        ("v1", "PodTemplate", {"template": TEMPLATE}, "template.spec", None),
        ("apps/v1", "Deployment", {"spec": {"replicas": 3, "template": TEMPLATE}}, "spec.template.spec", 3),
        ("apps/v1", "DaemonSet", {"spec": {"template": TEMPLATE}}, "spec.template.spec", None),
        ("apps/v1", "StatefulSet", {"spec": {"replicas": 2.0, "template": TEMPLATE}}, "spec.template.spec", 2),
        ("batch/v1", "Job", {"spec": {"parallelism": 4, "template": TEMPLATE}}, "spec.template.spec", 4),
        (
            "batch/v1",
            "CronJob",
            {"spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}}},
            "spec.jobTemplate.spec.template.spec",
            None,
        ),
        (
            "ray.io/v1",
            "RayCluster",
            {"spec": {"workerGroupSpecs": [{"replicas": 5, "template": TEMPLATE}]}},
            "spec.workerGroupSpecs[0].template.spec",
            5,
        ),
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"spec": {"leaderWorkerTemplate": {"workerTemplate": TEMPLATE}}},
            "spec.leaderWorkerTemplate.workerTemplate.spec",
            None,
        ),
        (
            "kubeflow.org/v1",
            "PyTorchJob",
            {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 3, "template": TEMPLATE}}}},
            "spec.pytorchReplicaSpecs.Worker.template.spec",
            3,
        ),
    ],
)
def test_every_kind_gives_its_pods(api_version, kind, body, path, replicas):
    (workload,) = read(api_version, kind, body).workloads
    assert (workload.path, workload.replicas) == (path, replicas)
    assert (workload.namespace, workload.name) == ("ml", "x")
    (container,) = listed(workload.containers)
    assert container.path == f"{path}.containers[0]"
    assert container.resources == {"nvidia.com/gpu": "2"}


def test_several_templates_are_several_workloads():
    body = {"spec": {"leader": {"template": TEMPLATE}, "worker": {"template": TEMPLATE}, "web": {"template": {}}}}
    assert len(read("example.com/v1", "Group", body).workloads) == 2


@pytest.mark.parametrize(
    "pod",
    [
        {"containers": [{"name": "web", "image": "nginx", "resources": {"limits": {"memory": "1Gi"}}}]},
        {"containers": [{"name": "a", "env": [{"name": "A", "value": UNKNOWN}], "image": UNKNOWN}]},
        {"containers": [{"name": "a"}], "volumes": [{"name": "v", "hostPath": {"path": "/dev/shm"}}]},
        {"containers": [{"name": "a"}], "tolerations": [{"operator": "Exists"}], "nodeName": "n"},
    ],
)
def test_pods_that_do_not_touch_gpus_are_no_facts(pod):
    assert not read("v1", "Pod", {"spec": pod})


@pytest.mark.parametrize(
    "pod",
    [
        {"containers": [GPU]},
        {"containers": [], "initContainers": [GPU]},
        {"containers": [{"name": "a", "resources": {"claims": [{"name": "gpu"}]}}]},
        {"containers": [{"name": "a"}], "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]},
        {"containers": [{"name": "a", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}]},
        {"containers": [{"name": "a"}], "volumes": [{"name": "v", "hostPath": {"path": "//dev//nvidia0"}}]},
        {"containers": [{"name": "a", "resources": {"limits": UNKNOWN}}]},
        {"containers": UNKNOWN},
        {"containers": [{"name": "a"}], "resourceClaims": UNKNOWN},
    ],
)
def test_pods_that_touch_gpus_or_may_are_facts(pod):
    assert read("v1", "Pod", {"spec": pod}).workloads


def test_what_a_container_asks_for():
    container = {
        "name": "main",
        "image": "example/main:1",
        "env": [{"name": "A"}, {"name": "B", "valueFrom": {"fieldRef": {}}}, {"name": "C", "value": "1"}],
        "resources": {"claims": [{"name": "gpu", "request": "big"}]},
        "volumeMounts": [{"name": "v", "mountPath": "/run/x"}],
    }
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}, {"name": "own", "resourceClaimName": "shared"}]
    pod = {"containers": [container], "resourceClaims": claims}
    (workload,) = read("v1", "Pod", {"spec": pod}).workloads
    (found,) = listed(workload.containers)
    assert [(claim.name, claim.request) for claim in listed(found.claims)] == [("gpu", "big")]
    assert found.environment == {"A": "", "B": UNKNOWN, "C": "1"}
    assert [(mount.volume, mount.path) for mount in listed(found.mounts)] == [("v", "/run/x")]
    assert [(claim.claim, claim.template) for claim in listed(workload.claims)] == [(None, "one"), ("shared", None)]


def test_values_of_the_wrong_type_are_named_with_their_path():
    pod = {"containers": [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": 1}, "claims": "gpu"}}]}
    (workload,) = read("v1", "Pod", {"spec": pod}).workloads
    assert [item.path for item in workload.malformed] == ["spec.containers[0].resources.claims"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("ResourceClaim", {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "c"}}]}}}),
        ("ResourceClaim", {"spec": {"devices": {"requests": [{"name": "gpu", "deviceClassName": "c"}]}}}),
        (
            "ResourceClaimTemplate",
            {"spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "c"}}]}}}},
        ),
    ],
)
def test_claims_of_every_shape(kind, body):
    (claim,) = read("resource.k8s.io/v1", kind, body).claims
    assert [(request.name, request.device_class) for request in listed(claim.requests)] == [("gpu", "c")]


def test_everything_a_claim_writes():
    exactly = {
        "deviceClassName": "c",
        "count": 2.0,
        "allocationMode": "exactcount",
        "selectors": [{"cel": {"expression": "true"}}],
        "tolerations": [],
    }
    devices = {
        "requests": [
            {"name": "a", "exactly": exactly},
            {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "d"}]},
        ],
        "constraints": [{"distinctAttribute": "a/b", "requests": ["a"]}],
    }
    (claim,) = read("resource.k8s.io/v1", "ResourceClaim", {"spec": {"devices": devices}}).claims
    first, second = listed(claim.requests)
    assert (first.count, first.allocation_mode, first.selectors) == (2, "ExactCount", ("true",))
    assert first.path == "spec.devices.requests[0].exactly"
    assert "tolerations" in first.fields
    assert [item.device_class for item in second.alternatives] == ["d"]
    assert claim.fields == ("constraints[0].distinctAttribute", "constraints[0].requests")


def test_unknown_parts_of_claims_stay_unknown():
    (claim,) = read("resource.k8s.io/v1", "ResourceClaim", {"spec": {"devices": {"requests": UNKNOWN}}}).claims
    assert claim.requests is UNKNOWN
    request = {"name": "gpu", "exactly": {"deviceClassName": UNKNOWN, "count": UNKNOWN}}
    (claim,) = read("resource.k8s.io/v1", "ResourceClaim", {"spec": {"devices": {"requests": [request]}}}).claims
    assert (listed(claim.requests)[0].device_class, listed(claim.requests)[0].count) == (UNKNOWN, UNKNOWN)


def test_a_device_class_and_quotas():
    spec = {"selectors": [{"cel": {"expression": "true"}}], "extendedResourceName": "nvidia.com/gpu"}
    (found,) = read("resource.k8s.io/v1", "DeviceClass", {"spec": spec}).device_classes
    assert (found.selectors, found.extended_resource_name) == (("true",), "nvidia.com/gpu")
    (quota,) = read("v1", "ResourceQuota", {"spec": {"hard": {"requests.nvidia.com/gpu": 4, "pods": "10"}}}).quotas
    assert quota.hard == {"requests.nvidia.com/gpu": "4"}
    assert not read("v1", "ResourceQuota", {"spec": {"hard": {"pods": "10"}}})


@pytest.mark.parametrize("metadata", [{"name": UNKNOWN}, UNKNOWN, [], {"name": ""}])
def test_pods_whose_name_is_not_known_have_a_label(metadata):
    container = {"name": "c", "image": "i", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}
    data = {"metadata": metadata, "spec": {"containers": [container]}}
    (workload,) = read_object("v1", "Pod", data, Place(object="urn of the pod")).workloads
    assert workload.label == "Pod urn of the pod"
