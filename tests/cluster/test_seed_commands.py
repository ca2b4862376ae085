"""The walk-through of the AKS article on DRA, command by command, gives what the article says.

The article's `az` commands are the Azure endpoint's to answer; here the pool `gpunp` is already there.
"""

import json
import subprocess
import textwrap
from collections.abc import Iterator

import pytest

from tests.cluster.harness import Cluster, eventually, node, running

DEVICE_CLASS = r"""
kubectl apply -f - <<'EOF'
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata:
  name: aks-dra-gpu
spec:
  selectors:
  - cel:
      expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
EOF
"""
CLAIM = r"""
kubectl apply -f - <<EOF
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: gpu-claim
  namespace: ${GPU_NAMESPACE}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: aks-dra-gpu
        allocationMode: ExactCount
        count: 1
EOF
"""
JOB = r"""
kubectl apply -f - <<EOF
apiVersion: batch/v1
kind: Job
metadata:
  name: gpu-dra-validation
  namespace: ${GPU_NAMESPACE}
spec:
  backoffLimit: 0
  activeDeadlineSeconds: 600
  template:
    spec:
      restartPolicy: Never
      nodeSelector:
        kubernetes.azure.com/agentpool: "gpunp"
      tolerations:
        - key: sku
          operator: Equal
          value: gpu
          effect: NoSchedule
        - key: nvidia.com/gpu
          operator: Exists
          effect: NoSchedule
      resourceClaims:
        - name: gpu
          resourceClaimName: gpu-claim
      containers:
        - name: gpu-test
          image: mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu
          command: ["nvidia-smi"]
          resources:
            claims:
              - name: gpu
EOF
"""
WAIT = "kubectl -n $GPU_NAMESPACE wait --for=condition=complete job/gpu-dra-validation --timeout=10m"
POOL = "kubernetes.azure.com/agentpool=gpunp"


class Shell:
    """Runs the article's commands as they stand there."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.environment = {**cluster.environment, "GPU_NAMESPACE": "gpu-dra-example"}

    def __call__(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", command], env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def watched_claim(self) -> "subprocess.Popen[str]":
        """Follow the claim: the claim controller clears the allocation again when the Job's pod has ended."""
        return subprocess.Popen(
            ["kubectl", "-n", "gpu-dra-example", "get", "resourceclaim", "gpu-claim", "-o", "json", "--watch"],
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A cluster as the article expects it: one GPU node, and nothing else in it."""
    nodes = [node("aks-gpunp-12345678-vmss000000", "gpunp"), node("aks-system-0", "system", "none", gpus=0)]
    with running(tmp_path_factory.mktemp("clusters") / "article", "1.35.4", nodes) as cluster:
        yield Shell(cluster)


def allocations(stream: str) -> list[dict[str, str]]:
    """Return the allocated devices in a stream of JSON objects."""
    decoder, found = json.JSONDecoder(), []
    while stream := stream.lstrip():
        claim, end = decoder.raw_decode(stream)
        stream = stream[end:]
        found += claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    return found


def test_the_stable_api_is_there(shell: Shell) -> None:
    assert "Kubernetes control plane" in shell("kubectl cluster-info")
    listing = shell("kubectl api-resources --api-group=resource.k8s.io --output wide")
    for kind in ("DeviceClass", "ResourceClaim", "ResourceSlice"):
        assert kind in listing
    explained = shell("kubectl explain resourceclaim.spec.devices.requests.exactly --api-version=resource.k8s.io/v1")
    for name in ("allocationMode", "deviceClassName", "count"):
        assert name in explained


def test_the_nodes_are_healthy_and_advertise_devices(shell: Shell) -> None:
    assert "condition met" in shell(f"kubectl wait --for=condition=Ready nodes -l {POOL} --timeout=10m")
    row = shell(f"kubectl get nodes -l {POOL} -o wide").splitlines()[1].split()
    assert row[:2] == ["aks-gpunp-12345678-vmss000000", "Ready"]
    described = shell(f"kubectl describe nodes -l {POOL}")
    assert "KubeletReady" in described
    assert "nvidia.com/gpu" not in described.replace("nvidia.com/gpu.", "")
    columns = "NAME:.metadata.name,DRIVER:.spec.driver,POOL:.spec.pool.name,NODE:.spec.nodeName"
    header, *slices = shell(f"kubectl get resourceslices.resource.k8s.io -o custom-columns='{columns}'").splitlines()
    assert header.split() == ["NAME", "DRIVER", "POOL", "NODE"]
    assert [line.split()[1:] for line in slices] == [["gpu.nvidia.com", *["aks-gpunp-12345678-vmss000000"] * 2]]
    assert "productName" in shell("kubectl get resourceslices.resource.k8s.io -o yaml")


def validate(shell: Shell) -> dict[str, str]:
    """Create claim and Job, and check what the article says to verify; returns the device that was allocated."""
    shell(CLAIM)
    assert "status: {}" in shell("kubectl -n $GPU_NAMESPACE get resourceclaim gpu-claim -o yaml"), "allocated too early"
    watch = shell.watched_claim()
    shell(JOB)
    assert "condition met" in shell(WAIT)
    watch.terminate()
    (device, *_) = allocations(watch.communicate()[0])
    assert device["driver"] == "gpu.nvidia.com"
    assert device["pool"] == "aks-gpunp-12345678-vmss000000"
    assert device["device"] == "gpu-0"

    logs = shell("kubectl -n $GPU_NAMESPACE logs job/gpu-dra-validation")
    assert "NVIDIA-SMI 580.126.09" in logs
    assert "CUDA Version: 13.0" in logs
    assert "NVIDIA A100 80GB PCIe" in logs
    pods = shell("kubectl -n $GPU_NAMESPACE get pods -l job-name=gpu-dra-validation -o wide").splitlines()
    assert len(pods) == 2
    assert pods[1].split()[2] == "Completed"
    assert "aks-gpunp-12345678-vmss000000" in pods[1]
    return device


def clean_up(shell: Shell) -> None:
    """Run the article's clean-up of the workload."""
    shell("kubectl -n $GPU_NAMESPACE delete job gpu-dra-validation --wait=true")
    shell("kubectl -n $GPU_NAMESPACE wait --for=delete pod -l job-name=gpu-dra-validation --timeout=5m")
    shell("kubectl -n $GPU_NAMESPACE delete resourceclaim gpu-claim --wait=true")


def test_the_walk_through_and_a_second_validation(shell: Shell) -> None:
    shell(DEVICE_CLASS)
    assert "device.driver == 'gpu.nvidia.com'" in shell("kubectl get deviceclass aks-dra-gpu -o yaml")
    assert "created" in shell('kubectl create namespace "$GPU_NAMESPACE"')
    taints = shell(f"kubectl get nodes -l {POOL} -o custom-columns='NAME:.metadata.name,TAINTS:.spec.taints'")
    assert taints.splitlines()[1].split() == ["aks-gpunp-12345678-vmss000000", "<none>"]

    first = validate(shell)
    # What the article reads when something went wrong.
    described = shell("kubectl -n $GPU_NAMESPACE describe pods -l job-name=gpu-dra-validation")
    for reason in ("Scheduled", "Pulled", "Created", "Started"):
        assert reason in described
    assert "Device Class Name:" in shell("kubectl -n $GPU_NAMESPACE describe resourceclaim gpu-claim")
    assert "nodeName: aks-gpunp" in shell("kubectl -n $GPU_NAMESPACE get pods -l job-name=gpu-dra-validation -o yaml")

    clean_up(shell)
    assert validate(shell) == first, "the GPU can be allocated again"
    clean_up(shell)
    shell('kubectl delete namespace "$GPU_NAMESPACE"')
    shell("kubectl delete deviceclass aks-dra-gpu")
    assert "No resources found" in shell("kubectl get resourceclaims,pods -A 2>&1")


def test_a_missing_class_is_told_by_the_pods_events(shell: Shell) -> None:
    shell('kubectl create namespace "$GPU_NAMESPACE"')
    shell(CLAIM)
    shell(JOB)
    command = "kubectl -n $GPU_NAMESPACE describe pods -l job-name=gpu-dra-validation"
    eventually(lambda: "device class aks-dra-gpu does not exist" in shell(command), "the scheduler's event")
    shell(DEVICE_CLASS)
    assert "condition met" in shell(WAIT)
    clean_up(shell)
    shell('kubectl delete namespace "$GPU_NAMESPACE"')
    shell("kubectl delete deviceclass aks-dra-gpu")


def test_the_migrated_workload_of_the_article(shell: Shell) -> None:
    """The article's fragment with a claim per pod from a template, on a pool of one GPU: the second one waits."""
    shell(DEVICE_CLASS)
    shell('kubectl create namespace "$GPU_NAMESPACE"')
    shell(
        textwrap.dedent("""
        kubectl -n $GPU_NAMESPACE apply -f - <<EOF
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: one-gpu}
        spec:
          spec:
            devices:
              requests:
              - {name: gpu, exactly: {deviceClassName: aks-dra-gpu}}
        ---
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: inference}
        spec:
          replicas: 2
          selector: {matchLabels: {app: inference}}
          template:
            metadata: {labels: {app: inference}}
            spec:
              resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
              containers:
              - {name: server, image: example, resources: {claims: [{name: gpu}]}}
        EOF
        """)
    )
    ready = "kubectl -n $GPU_NAMESPACE get deployment inference -o jsonpath='{.status.readyReplicas}'"
    eventually(lambda: shell(ready) == "1", "one ready replica")
    # `describe` shows no events when the selector matches more than one pod.
    pending = "kubectl -n $GPU_NAMESPACE events --types=Warning"
    eventually(lambda: "cannot allocate all claims" in shell(pending), "the reason of the second")
    shell("kubectl -n $GPU_NAMESPACE scale deployment inference --replicas=1")
    shell('kubectl delete namespace "$GPU_NAMESPACE"')
    assert "No resources found" in shell("kubectl get resourceclaims,pods -A 2>&1")
    shell("kubectl delete deviceclass aks-dra-gpu")
