"""Ways to get pods and claims past a policy pack, as data; see `bypasses`."""

from typing import Any

from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.examples import Resource
from tests.engine.bypasses import CLOSED, Bypass

TWICE = "claim-and-extended-resource"
NULL = "null-device-mount"
DEVICE = "nvidia-device-host-path"
PINNED = "node-name-with-claim"
COUNT = "device-count"
CLAIM = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
BOTH = {"claims": [{"name": "gpu"}], "limits": {"nvidia.com/gpu": "1"}}


def pod(resources: Any = None, **spec: Any) -> dict[str, Any]:
    """A pod spec with one container."""
    container = {"name": "main", "image": "registry.example.com/main:1"}
    return {"containers": [{**container, **({"resources": resources} if resources is not None else {})}], **spec}


def workload(spec: Any, kind: str = "core/v1:Pod", **body: Any) -> Resource:
    """An object with a pod spec at the usual place."""
    metadata = {"name": "main", "namespace": "team"}
    given = spec if kind.endswith((":Pod", ":PodPatch")) else {"template": {"spec": spec}, **body}
    return Resource("main", f"kubernetes:{kind}", {"metadata": metadata, "spec": given})


def mounting(path: str, at: str, **volume: Any) -> dict[str, Any]:
    """A pod that mounts a path of its node."""
    spec = pod(volumes=[{"name": "v", "hostPath": {"path": path, **volume}}])
    spec["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": at}]
    return spec


def claim(requests: Any, kind: str = "ResourceClaim", version: str = "v1") -> Resource:
    devices: dict[str, Any] = {"devices": {"requests": requests}}
    spec = devices if kind == "ResourceClaim" else {"spec": devices}
    metadata = {"name": "gpus", "namespace": "team"}
    return Resource("gpus", f"kubernetes:resource.k8s.io/{version}:{kind}", {"metadata": metadata, "spec": spec})


def exactly(count: Any, **more: Any) -> dict[str, Any]:
    return {"name": "gpu", "exactly": {"deviceClassName": "aks-dra-gpu", "count": count, **more}}


ASKED_TWICE = [
    Bypass("GPUs asked for twice", title, TWICE, (resource,))
    for title, resource in (
        (
            "as a request only",
            workload(pod({**BOTH, "limits": {}, "requests": {"nvidia.com/gpu": 1}}, resourceClaims=CLAIM)),
        ),
        ("as a share", workload(pod({**BOTH, "limits": {"nvidia.com/gpu.shared": "1"}}, resourceClaims=CLAIM))),
        ("as a MIG device", workload(pod({**BOTH, "limits": {"nvidia.com/mig-1g.5gb": 1}}, resourceClaims=CLAIM))),
        (
            "as a number with a fraction",
            workload(pod({**BOTH, "limits": {"nvidia.com/gpu": 1.0}}, resourceClaims=CLAIM)),
        ),
        ("in a patch", workload(pod(BOTH, resourceClaims=CLAIM), "core/v1:PodPatch")),
        ("in an old api version", workload(pod(BOTH, resourceClaims=CLAIM), "extensions/v1beta1:Deployment")),
        (
            "in a custom resource",
            Resource(
                "ray",
                "kubernetes:ray.io/v1:RayCluster",
                {
                    "metadata": {"name": "ray", "namespace": "team"},
                    "spec": {"workerGroupSpecs": [{"template": {"spec": pod(BOTH, resourceClaims=CLAIM)}}]},
                },
            ),
        ),
    )
]
NULL_MOUNTS = [
    Bypass("mounts of /dev/null", title, NULL, (workload(spec),))
    for title, spec in (
        ("slashes doubled", mounting("//dev///null", "/var/run/nvidia-container-devices/all")),
        ("a way round", mounting("/dev/shm/../null", "/var/run/nvidia-container-devices/0")),
        ("a folder that is a link", mounting("/dev/null", "/run/nvidia-container-devices/0")),
        ("a way round in the container", mounting("/dev/null", "/var/run/x/../nvidia-container-devices/0")),
        ("as a device", mounting("/dev/null", "/var/run/nvidia-container-devices/0", type="CharDevice")),
    )
]
DEVICES = [
    Bypass("devices of the node", title, DEVICE, (workload(spec, kind),))
    for title, spec, kind in (
        ("the control device", mounting("/dev/nvidiactl", "/x"), "core/v1:Pod"),
        ("a way round", mounting("/dev/./shm/../nvidia0", "/x"), "core/v1:Pod"),
        ("MIG capabilities", mounting("/dev/nvidia-caps/nvidia-cap1", "/x"), "apps/v1:StatefulSet"),
    )
]
NODES = [
    Bypass("claims past the scheduler", title, PINNED, (resource,))
    for title, resource in (
        ("a Job", workload(pod(resourceClaims=CLAIM, nodeName="aks-gpunp-0"), "batch/v1:Job")),
        ("a named claim", workload(pod(resourceClaims=[{"name": "g", "resourceClaimName": "c"}], nodeName="n"))),
        (
            "a template of pods",
            Resource(
                "t",
                "kubernetes:core/v1:PodTemplate",
                {"metadata": {"name": "t"}, "template": {"spec": pod(resourceClaims=CLAIM, nodeName="n")}},
            ),
        ),
    )
] + [
    Bypass(
        "claims past the scheduler",
        "a node that isn't known yet",
        PINNED,
        (workload(pod(resourceClaims=CLAIM, nodeName=UNKNOWN)),),
        waits=True,
    ),
    Bypass(
        "claims past the scheduler",
        "claims that are secret",
        PINNED,
        (workload(pod(resourceClaims=CLOSED, nodeName="n")),),
        waits=True,
    ),
]
COUNTS = [
    Bypass("too many devices", title, COUNT, (resource,))
    for title, resource in (
        ("spread over requests", claim([exactly(20.0), {**exactly(20), "name": "more"}])),
        ("in a template", claim([exactly(40)], "ResourceClaimTemplate")),
        ("in an old api version", claim([{"name": "gpu", "deviceClassName": "c", "count": 40}], version="v1beta1")),
        (
            "as an alternative",
            claim([{"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": "c", "count": 33}]}]),
        ),
        ("none", claim([exactly(0)])),
    )
]
POD_BYPASSES = [*ASKED_TWICE, *NULL_MOUNTS, *DEVICES, *NODES, *COUNTS]
