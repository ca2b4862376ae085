"""What each policy refuses and what comes close, as pods; which pool they may run on matters to some."""

from collections.abc import Iterator
from typing import Any

import pytest

from aksgpu.reporters import admission
from tests.cluster.admission import Api, completed, described
from tests.cluster.harness import Cluster
from tests.cluster.policies import in_force

NAMES = admission.Names("border")
SPACE = "border"
SKU = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}
POOLS = [
    {"name": "dranp", "advertiser": "dra", "labels": {"agentpool": "dranp", "accelerator": "nvidia"}, "taints": []},
    {"name": "plugnp", "advertiser": "device-plugin", "labels": {"agentpool": "plugnp"}, "taints": [SKU]},
    {"name": "ownnp", "advertiser": "none", "labels": {"agentpool": "ownnp"}, "taints": []},
]


def asking(quantity: str = "1", **spec: Any) -> dict[str, Any]:
    return {"containers": [{"resources": {"limits": {"nvidia.com/gpu": quantity}}}], **spec}


def claiming(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    resources = {"resources": {"claims": [{"name": "gpu"}]}} if container is None else container
    return {"containers": [resources], "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}], **spec}


def mounting(path: str, at: str = "/data") -> dict[str, Any]:
    return {
        "containers": [{"volumeMounts": [{"name": "one", "mountPath": at}]}],
        "volumes": [{"name": "one", "hostPath": {"path": path}}],
    }


def on(pool: str) -> dict[str, str]:
    return {"agentpool": pool}


DEVICES = "/var/run/nvidia-container-devices"
BOTH = {"resources": {"claims": [{"name": "gpu"}], "limits": {"nvidia.com/gpu": "1"}}}
CASES = [
    ("claim-and-extended-resource", claiming(BOTH), True),
    ("claim-and-extended-resource", claiming(), False),
    ("claim-and-extended-resource", asking(), False),
    ("node-name-with-claim", claiming(nodeName="aks-dranp-0"), True),
    ("node-name-with-claim", {"containers": [{}], "nodeName": "aks-dranp-0"}, False),
    ("null-device-mount", mounting("/dev/null", f"{DEVICES}/0"), True),
    ("null-device-mount", mounting("/dev/null", "/tmp/null"), False),
    ("null-device-mount", mounting("/data", f"{DEVICES}/0"), False),
    ("nvidia-device-host-path", mounting("/dev/nvidia0"), True),
    ("nvidia-device-host-path", mounting("/opt/dev/nvidia"), False),
    ("visible-devices-env", {"containers": [{"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}]}, True),
    ("visible-devices-env", {"containers": [{"env": [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "all"}]}]}, False),
    ("allocation-mismatch", asking(nodeSelector=on("dranp")), True),
    ("allocation-mismatch", asking("0", nodeSelector=on("dranp")), False),
    ("allocation-mismatch", asking(nodeSelector=on("ownnp")), False),
    ("allocation-mismatch", asking(nodeSelector=on("unknown")), False),
    ("allocation-mismatch", asking(nodeSelector={"accelerator": "nvidia"}), False),
    ("allocation-mismatch", claiming(nodeSelector=on("dranp")), False),
    ("gpu-pool-unreachable", asking(nodeSelector=on("plugnp")), True),
    ("gpu-pool-unreachable", asking(nodeSelector=on("plugnp"), tolerations=[SKU]), False),
    ("gpu-pool-unreachable", asking(nodeSelector={**on("ownnp"), "disk": "fast"}), True),
    ("gpu-pool-unreachable", asking(), False),
]


@pytest.fixture(scope="module")
def api(shared_cluster: Cluster) -> Iterator[Api]:
    api = Api(shared_cluster.kubeconfig.read_text())
    made = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}]
    for rule in described():
        made += [admission.policy(rule, POOLS, NAMES), admission.binding(rule, "warn", NAMES)]
    with in_force(api, made):
        yield api


@pytest.mark.parametrize(("policy", "spec", "refused"), CASES)
def test_a_pod_is_refused_or_not(api: Api, policy: str, spec: dict[str, Any], refused: bool):
    pod = completed({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": spec}, SPACE)
    answer = api.create(pod)
    assert answer.status == 201, answer.message
    assert (f"border-{policy}" in answer.warned) is refused


@pytest.mark.parametrize(
    ("requests", "refused"),
    [
        ([{"exactly": {"count": 33}}], True),
        ([{"exactly": {"count": 16}}, {"exactly": {"count": 17}}], True),
        ([{"exactly": {"count": 32}}], False),
        ([{"exactly": {}}], False),
        ([{"exactly": {"allocationMode": "All"}}], False),
    ],
)
@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_a_claim_is_refused_or_not(api: Api, kind: str, requests: list[dict[str, Any]], refused: bool):
    named = [
        {"name": f"request-{number}", "exactly": {"deviceClassName": "gpu.nvidia.com", **request["exactly"]}}
        for number, request in enumerate(requests)
    ]
    spec: dict[str, Any] = {"devices": {"requests": named}}
    body = {"spec": spec} if kind == "ResourceClaimTemplate" else spec
    item = {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "one"}, "spec": body}
    answer = api.create(completed(item, SPACE))
    assert answer.status == 201, answer.message
    assert ("border-device-count" in answer.warned) is refused
