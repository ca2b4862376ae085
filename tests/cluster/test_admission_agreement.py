"""Policies and rules agree about objects that nobody thought of: made at random from words that matter to the rules."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Taint
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.readers.kube_objects import read_object
from aksgpu.reporters import admission
from tests.cluster.admission import RULES, Api, completed
from tests.cluster.harness import Cluster
from tests.cluster.policies import in_force

NAMES = admission.Names("agreement")
SPACE = "agreement"
COUNT = 400


def pool(name: str, driver_mode: str | None, labels: dict[str, str], *taints: Taint) -> PoolFacts:
    managed = "Managed" if driver_mode else "Unmanaged"
    return PoolFacts(
        place=Place(object=name),
        form=PoolForm(kind="settings"),
        name=name,
        vm_size="Standard_NC24ads_A100_v4",
        management_mode=managed,
        driver_mode=driver_mode,
        labels=labels,
        taints=taints,
    )


SKU = Taint(key="sku", value="gpu", effect="NoSchedule")
MINE = Taint(key="mine", effect="NoExecute")
SOFT = Taint(key="soft", value="x", effect="PreferNoSchedule")
POOLS = (
    pool("dranp", "DRA", {"gpu": "dra", "size": "10"}, SKU),
    pool("plugnp", "DevicePlugin", {"gpu": "plugin", "size": "20"}, MINE, SOFT),
    pool("ownnp", None, {"gpu": "own"}, SOFT),
)
IMAGES = (
    "nvcr.io/nvidia/k8s-device-plugin:v0.17.1",
    "registry.example.com:5000/nvdp@sha256:" + "0" * 64,
    "localhost/nvidia_device-plugin",
    "ghcr.io/mellanox/k8s-rdma-device-plugin:1",
    "nvidia-device-plugin.example.com/agent:1",
    "nvcr.io/nvidia/k8s-dra-driver-gpu:v25.8",
    "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.4",
    "python:3.12",
    "vllm/vllm-openai:k8s-device-plugin",
)
COMMANDS = (
    None,
    ["nvidia-device-plugin"],
    ["/usr/bin/gpu-feature-discovery"],
    ["sh", "-c", "exec /usr/bin/nvidia-device-plugin --x"],
    ["bash", "-c"],
    ["/bin/sh", "-c", "kubectl delete ds nvidia-device-plugin"],
    ["gpu-kubelet-plugin"],
    ["compute-domain-kubelet-plugin"],
    ["python", "serve.py"],
)
HOST_PATHS = (
    "/var/lib/kubelet/device-plugins",
    "/var/lib/kubelet/./device-plugins/",
    "/var/lib/kubelet/device-plugins/kubelet.sock",
    "/var/lib/kubelet/device-plugins/other",
    "/dev/null",
    "/./dev/./null/.",
    "/dev//./nvidia1",
    "/dev/nvidia0",
    "/dev/nvidiactl",
    "/dev/shm",
    "/data/dev/nvidia0",
)
MOUNTS = (
    "/var/run/nvidia-container-devices/0",
    "/var/./run/nvidia-container-devices",
    "/var/run/x/../nvidia-container-devices/1",
    "/var/run/nvidia-container-devices",
    "/run/other",
    "/data",
)
SELECTORS = (
    {},
    {"gpu": "dra"},
    {"gpu": "plugin"},
    {"gpu": "none"},
    {"agentpool": "dranp"},
    {"kubernetes.azure.com/agentpool": "plugnp"},
    {"kubernetes.io/hostname": "somewhere"},
    {"accelerator": "nvidia"},
    {"gpu": "dra", "agentpool": "plugnp"},
)
TOLERATIONS = (
    {"operator": "Exists"},
    {"key": "sku", "operator": "Exists"},
    {"key": "sku", "value": "gpu", "effect": "NoSchedule"},
    {"key": "sku", "value": "other"},
    {"key": "mine", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "mine"},
    {"key": "nvidia.com/gpu", "operator": "Exists"},
)
EXPRESSIONS = (
    {"key": "gpu", "operator": "In", "values": ["dra", "own"]},
    {"key": "gpu", "operator": "NotIn", "values": ["dra"]},
    {"key": "absent", "operator": "NotIn", "values": ["a"]},
    {"key": "absent", "operator": "DoesNotExist"},
    {"key": "gpu", "operator": "Exists"},
    {"key": "gpu", "operator": "DoesNotExist"},
    {"key": "size", "operator": "Gt", "values": ["15"]},
    {"key": "size", "operator": "Lt", "values": ["15"]},
    {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]},
)
VALUES = ("all", "none", "void", "0", "")
KINDS = ("Pod", "DaemonSet", "Deployment", "StatefulSet", "ReplicaSet", "Job", "CronJob", "ReplicationController")
VERSIONS = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}


def some(chance: random.Random, values: Any, most: int = 2) -> list[Any]:
    return chance.sample(list(values), chance.randint(0, most))


def container(chance: random.Random, number: int, volumes: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {"name": f"container-{number}", "image": chance.choice(IMAGES)}
    command = chance.choice(COMMANDS)
    if command:
        split = chance.randint(1, len(command))
        made |= {"command": command[:split], "args": command[split:]}
    if chance.random() < 0.3:
        made["env"] = [{"name": chance.choice(["NVIDIA_VISIBLE_DEVICES", "OTHER"]), "value": chance.choice(VALUES)}]
    made["volumeMounts"] = [
        {"name": name, "mountPath": path}
        for name, path in zip(some(chance, volumes, len(volumes)), chance.sample(MOUNTS, len(MOUNTS)), strict=False)
    ]
    if chance.random() < 0.4:
        made["resources"] = {"limits": {chance.choice(["nvidia.com/gpu", "cpu"]): chance.choice(["1", "2", "0"])}}
    return made


def pod_spec(chance: random.Random) -> dict[str, Any]:
    paths = some(chance, HOST_PATHS, 3)
    volumes = [{"name": f"volume-{number}", "hostPath": {"path": path}} for number, path in enumerate(paths)]
    names = [f"volume-{number}" for number in range(len(paths))]
    spec: dict[str, Any] = {
        "containers": [container(chance, number, names) for number in range(chance.randint(1, 2))],
        "volumes": volumes,
        "nodeSelector": chance.choice(SELECTORS),
        "tolerations": some(chance, TOLERATIONS, 3),
    }
    if chance.random() < 0.2:
        spec["initContainers"] = [container(chance, 9, names)]
    if chance.random() < 0.3:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
        if chance.random() < 0.7:
            spec["containers"][0].setdefault("resources", {})["claims"] = [{"name": "gpu"}]
    if chance.random() < 0.15:
        spec["nodeName"] = "aks-dranp-0"
    if chance.random() < 0.3:
        terms = [{"matchExpressions": some(chance, EXPRESSIONS)} for _ in range(chance.randint(1, 2))]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": required}
    return spec


def item(chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(KINDS)
    spec: dict[str, Any] = pod_spec(chance)
    if kind != "Pod":
        spec = {"template": {"spec": spec}}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    name = chance.choice(["agent", "rdma-agent", "nvidia-device-plugin"])
    version = VERSIONS.get(kind, "apps/v1")
    return completed({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}, SPACE)


@pytest.fixture(scope="module")
def api(shared_cluster: Cluster) -> Iterator[Api]:
    api = Api(shared_cluster.kubeconfig.read_text())
    made = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}]
    for rule in RULES:
        made += [admission.policy(rule, admission.pool_data(POOLS), NAMES), admission.binding(rule, "warn", NAMES)]
    with in_force(api, made):
        yield api


def test_policies_and_rules_agree(api: Api):
    """The same objects in every run."""
    chance = random.Random(16)
    refused: Counter[str] = Counter()
    for _ in range(COUNT):
        given = item(chance)
        place = Place(object=f"{given['kind']} {given['metadata']['name']}")
        facts = read_object(given["apiVersion"], given["kind"], given, place)
        estate = Estate.merge([Estate(pools=POOLS), facts])
        expected = {NAMES.policy(rule) for rule in RULES if any(not found.undecided for found in rule.check(estate))}
        answer = api.create(given)
        assert answer.status == 201, answer.message
        assert answer.warned == expected, given
        refused.update(expected)
    about_pods = {NAMES.policy(rule) for rule in RULES if rule.name != "device-count"}
    assert {name for name in about_pods if refused[name] > COUNT / 100} == about_pods
