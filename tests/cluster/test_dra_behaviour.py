"""What the real scheduler, API server and controllers do with claims, at each minor the twin offers.

One control plane goes through the versions over the same data, as an upgraded cluster does.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.harness import DEVICE_CLASS, Cluster, eventually, node, running

VERSIONS = ("1.34.5", "1.35.4", "1.36.2")


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder: Path = tmp_path_factory.mktemp("clusters") / "behaviour"
    nodes = [node("aks-dra-0", "dra", gpus=2), node("aks-plugin-0", "plugin", "device-plugin")]
    with running(folder, VERSIONS[0], nodes) as cluster:
        cluster.apply(DEVICE_CLASS)
        eventually(lambda: cluster.items("resourceslices"), "the slice")
        yield cluster


@pytest.fixture(scope="module", params=VERSIONS)
def cluster(upgraded: Cluster, request: pytest.FixtureRequest) -> Cluster:
    upgraded.start(request.param)
    assert upgraded.get("--raw", "/version")["gitVersion"] == f"v{request.param}"
    return upgraded


def serves_the_new_fields(cluster: Cluster) -> bool:
    return (cluster.plane.version or "").startswith("1.36.")


def claim(name: str, exactly: str = "", request: str = "") -> str:
    body = request or f"exactly: {{deviceClassName: aks-dra-gpu{exactly}}}"
    return f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: {name}}}
spec: {{devices: {{requests: [{{name: gpu, {body}}}]}}}}
"""


def user(name: str, reference: str = "", **more: str) -> str:
    """A pod that uses a claim; by default the claim of its own name."""
    extra = "\n".join(f"  {key}: {value}" for key, value in more.items())
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 0
  restartPolicy: Never
  resourceClaims: [{{name: gpu, {reference or f"resourceClaimName: {name}"}}}]
  containers: [{{name: main, image: example, command: [serve], resources: {{claims: [{{name: gpu}}]}}}}]
{extra}
"""


def plugin_user(name: str, command: str = "[serve]", **more: str) -> str:
    extra = "\n".join(f"  {key}: {value}" for key, value in more.items())
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 0
  restartPolicy: Never
  containers: [{{name: main, image: example, command: {command}, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]
{extra}
"""


def create(cluster: Cluster, namespace: str, *manifests: str) -> None:
    cluster.kubectl("apply", "-n", namespace, "-f", "-", given="\n---\n".join(manifests))


def refusal(cluster: Cluster, namespace: str, manifest: str) -> str:
    return cluster.run("apply", "-n", namespace, "-f", "-", given=manifest, ok=False).stderr


def request_of(cluster: Cluster, namespace: str, name: str) -> dict[str, Any]:
    (request,) = cluster.get("resourceclaim", name, "-n", namespace)["spec"]["devices"]["requests"]
    return request["exactly"]


def allocation(cluster: Cluster, namespace: str, name: str) -> list[dict[str, Any]]:
    status = cluster.get("resourceclaim", name, "-n", namespace).get("status", {})
    return status.get("allocation", {}).get("devices", {}).get("results", [])


def test_fields_that_only_1_36_serves_are_dropped_silently(cluster: Cluster, namespace: str) -> None:
    served = serves_the_new_fields(cluster)
    cluster.apply(
        """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: extended}
spec:
  extendedResourceName: example.com/gpu
  selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]
"""
    )
    assert ("extendedResourceName" in cluster.get("deviceclass", "extended")["spec"]) is served
    create(
        cluster,
        namespace,
        claim("tolerant", ", tolerations: [{key: a, operator: Exists}], capacity: {requests: {memory: 40Gi}}"),
    )
    request = request_of(cluster, namespace, "tolerant")
    assert ("tolerations" in request, "capacity" in request) == (served, served)
    cluster.kubectl("delete", "deviceclass", "extended")


def test_device_taints(cluster: Cluster, namespace: str) -> None:
    (before,) = cluster.items("resourceslices")
    with cluster.fault("tainted-devices"):
        generation = before["spec"]["pool"]["generation"]
        eventually(lambda: cluster.items("resourceslices")[0]["spec"]["pool"]["generation"] > generation, "the taints")
        if not serves_the_new_fields(cluster):
            assert tainted(cluster) == []
            return
        assert tainted(cluster) == ["gpu.nvidia.com/xid"] * 2
        create(cluster, namespace, claim("plain"), user("plain"))
        assert "cannot allocate all claims" in cluster.wait_event(namespace, "plain", "FailedScheduling")
        create(cluster, namespace, claim("tolerant", ", tolerations: [{operator: Exists}]"), user("tolerant"))
        cluster.wait_phase(namespace, "tolerant", "Running")
    cluster.wait_phase(namespace, "plain", "Running")


def tainted(cluster: Cluster) -> list[str]:
    (found,) = cluster.items("resourceslices")
    return [taint["key"] for device in found["spec"]["devices"] for taint in device.get("taints", [])]


def test_what_the_api_accepts_and_refuses(cluster: Cluster, namespace: str) -> None:
    create(cluster, namespace, claim("zero", ", count: 0"), claim("many", ", count: 33"))
    assert request_of(cluster, namespace, "zero")["count"] == 1
    assert request_of(cluster, namespace, "many")["count"] == 33
    assert "allocationMode" in refusal(cluster, namespace, claim("both", ", allocationMode: All, count: 2"))
    assert "admin-access" in refusal(cluster, namespace, claim("admin", ", adminAccess: true"))
    old_shape = claim("old", request="deviceClassName: aks-dra-gpu")
    assert 'unknown field "spec.devices.requests[0].deviceClassName"' in refusal(cluster, namespace, old_shape)
    text = """, selectors: [{cel: {expression: "device.capacity['gpu.nvidia.com'].memory >= '40Gi'"}}]"""
    assert "compilation failed" in refusal(cluster, namespace, claim("text", text))
    no_boolean = """, selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].type"}}]"""
    create(cluster, namespace, claim("no-boolean", no_boolean))
    unknown = user("unknown-name").replace("claims: [{name: gpu}]", "claims: [{name: gpux}]")
    assert "must be one of the names in pod.spec.resourceClaims" in refusal(cluster, namespace, unknown)


def test_mistakes_that_only_scheduling_finds(cluster: Cluster, namespace: str) -> None:
    gone = """, selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].index == 0"}}]"""
    memory = "device.capacity['gpu.nvidia.com'].memory"
    small = f""", selectors: [{{cel: {{expression: "{memory}.isGreaterThan(quantity('80Gi'))"}}}}]"""
    create(cluster, namespace, claim("many", ", count: 33"), user("many"))
    create(cluster, namespace, claim("gone", gone), user("gone"))
    create(cluster, namespace, claim("small", small), user("small"))
    create(cluster, namespace, claim("class", request="exactly: {deviceClassName: missing}"), user("class"))
    for name, text in {
        "many": "exceeds the claim limit of 32",
        "gone": "no such key: index",
        "small": "cannot allocate all claims",
        "class": "device class missing does not exist",
    }.items():
        assert text in cluster.wait_event(namespace, name, "FailedScheduling")


def test_mistakes_without_any_event(cluster: Cluster, namespace: str) -> None:
    # A claim made from a template belongs to its pod; to use it by name is one of the silent mistakes.
    template = (
        claim("one", "")
        .replace("kind: ResourceClaim", "kind: ResourceClaimTemplate")
        .replace("spec: {devices", "spec: {spec: {devices")
    )
    create(cluster, namespace, template.rstrip() + "}", user("owner", "resourceClaimTemplateName: one"))
    owner = cluster.wait_phase(namespace, "owner", "Running")
    generated = owner["status"]["resourceClaimStatuses"][0]["resourceClaimName"]
    create(cluster, namespace, user("no-claim", "resourceClaimName: missing"))
    create(cluster, namespace, user("no-template", "resourceClaimTemplateName: missing"))
    # The controller's warning about the template shows that the pods have been looked at.
    warning = cluster.wait_event(namespace, "no-template", "FailedResourceClaimCreation")
    assert 'resourceclaimtemplate.resource.k8s.io "missing" not found' in warning
    assert cluster.events(namespace, "no-claim") == []
    for name in ("no-claim", "no-template"):
        assert cluster.pod(namespace, name)["status"].get("conditions", []) == []
    assert generated.startswith("owner-gpu-")


def test_quota(cluster: Cluster, namespace: str) -> None:
    create(
        cluster,
        namespace,
        """
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus}
spec:
  hard:
    aks-dra-gpu.deviceclass.resource.k8s.io/devices: "40"
    count/resourceclaims.resource.k8s.io: "3"
    requests.nvidia.com/gpu: "1"
""",
    )

    def used() -> dict[str, str]:
        return cluster.get("resourcequota", "gpus", "-n", namespace).get("status", {}).get("used", {})

    eventually(lambda: used().get("count/resourceclaims.resource.k8s.io") == "0", "the quota")
    create(cluster, namespace, claim("two", ", count: 2"), claim("all", ", allocationMode: All"))
    devices = "aks-dra-gpu.deviceclass.resource.k8s.io/devices"
    eventually(lambda: used()[devices] == "34", "All counted as 32")
    assert used()["requests.nvidia.com/gpu"] == "0", "a class without extendedResourceName escapes this quota"
    assert "exceeded quota" in refusal(cluster, namespace, claim("more", ", count: 7"))
    create(cluster, namespace, claim("last"))
    assert "exceeded quota" in refusal(cluster, namespace, claim("fourth"))


def test_preemption_is_for_the_device_plugin_only(cluster: Cluster, namespace: str) -> None:
    important = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: important}\nvalue: 1000\n"
    cluster.apply(important)
    priority = {"priorityClassName": "important"}
    create(cluster, namespace, claim("both", ", count: 2"), user("both"))
    create(cluster, namespace, plugin_user("modest", nodeSelector="{agentpool: plugin}"))
    for name in ("both", "modest"):
        cluster.wait_phase(namespace, name, "Running")
    create(cluster, namespace, claim("urgent"), user("urgent", **priority))
    create(cluster, namespace, plugin_user("pushy", nodeSelector="{agentpool: plugin}", **priority))
    cluster.wait_phase(namespace, "pushy", "Running")
    assert "Preemption is not helpful for scheduling" in cluster.wait_event(namespace, "urgent", "FailedScheduling")
    assert cluster.pod(namespace, "both")["status"]["phase"] == "Running"
    assert cluster.run("get", "pod", "modest", "-n", namespace, ok=False).stderr.count("NotFound") == 1

    # What frees the claim is the end of its user.
    cluster.kubectl("delete", "pod", "both", "-n", namespace)
    cluster.wait_phase(namespace, "urgent", "Running")


def test_release_and_reuse(cluster: Cluster, namespace: str) -> None:
    create(cluster, namespace, claim("shared", ", count: 2"))
    create(cluster, namespace, user("first", "resourceClaimName: shared"), user("second", "resourceClaimName: shared"))
    for name in ("first", "second"):
        cluster.wait_phase(namespace, name, "Running")
    assert len(allocation(cluster, namespace, "shared")) == 2
    held = cluster.get("resourceclaim", "shared", "-n", namespace)
    assert sorted(entry["name"] for entry in held["status"]["reservedFor"]) == ["first", "second"]
    assert "resource.kubernetes.io/delete-protection" in held["metadata"]["finalizers"]

    cluster.kubectl("delete", "pod", "first", "-n", namespace)
    assert len(allocation(cluster, namespace, "shared")) == 2, "the second still uses it"
    cluster.kubectl("delete", "resourceclaim", "shared", "-n", namespace, "--wait=false")
    assert "deletionTimestamp" in cluster.get("resourceclaim", "shared", "-n", namespace)["metadata"]
    cluster.kubectl("delete", "pod", "second", "-n", namespace)
    cluster.kubectl("wait", "--for=delete", "resourceclaim/shared", "-n", namespace, "--timeout=30s")

    # A finished pod gives its devices back, too, while it still exists.
    create(cluster, namespace, claim("brief"), user("brief").replace("[serve]", "[nvidia-smi]"))
    cluster.wait_phase(namespace, "brief", "Succeeded")
    eventually(lambda: not allocation(cluster, namespace, "brief"), "the release")


def test_a_request_that_does_not_exist_gives_no_device(cluster: Cluster, namespace: str) -> None:
    stray = user("stray").replace("claims: [{name: gpu}]", "claims: [{name: gpu, request: other}]")
    create(cluster, namespace, claim("stray"), stray)
    cluster.wait_phase(namespace, "stray", "Running")
    assert cluster.run("exec", "-n", namespace, "stray", "--", "nvidia-smi", ok=False).returncode == 127


def test_extended_resources_come_from_dra_at_1_36_only(cluster: Cluster, namespace: str) -> None:
    extended = DEVICE_CLASS.replace("name: aks-dra-gpu", "name: extended").replace(
        "spec:\n", "spec:\n  extendedResourceName: nvidia.com/gpu\n"
    )
    cluster.apply(extended)
    create(
        cluster,
        namespace,
        plugin_user("old-style", "[sh, -c, 'nvidia-smi -L; serve']", nodeSelector="{agentpool: dra}"),
    )
    if serves_the_new_fields(cluster):
        cluster.wait_phase(namespace, "old-style", "Running")
        log = eventually(lambda: cluster.kubectl("logs", "-n", namespace, "old-style"), "the log")
        assert log.count("UUID: GPU-") == 1
    else:
        assert "Insufficient nvidia.com/gpu" in cluster.wait_event(namespace, "old-style", "FailedScheduling")
    cluster.kubectl("delete", "pod", "old-style", "-n", namespace)
    cluster.kubectl("delete", "deviceclass", "extended")
