"""The simulated nodes: what they advertise, how pods live on them, how they fail and recover."""

import os
import re
import signal
import subprocess
from typing import Any

import pytest

from tests.cluster.harness import Cluster, eventually, node
from twin.nodeplan import TaintPlan

CLAIMING_POD = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: NAME}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: aks-dra-gpu}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  terminationGracePeriodSeconds: 0
  restartPolicy: Never
  resourceClaims: [{name: gpu, resourceClaimName: NAME}]
  containers:
  - name: main
    image: example
    command: COMMAND
    resources: {claims: [{name: gpu}]}
  - {name: beside, image: example}
"""


def claiming_pod(name: str, command: str = "[sh, -c, 'nvidia-smi -L; serve']") -> str:
    return CLAIMING_POD.replace("NAME", name).replace("COMMAND", command)


def pod(name: str, command: str, extra: str = "", container: str = "") -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 0
  {extra or "restartPolicy: Never"}
  containers:
  - {{name: main, image: example, command: {command}{container}}}
"""


def create(cluster: Cluster, namespace: str, manifest: str) -> None:
    cluster.kubectl("apply", "-n", namespace, "-f", "-", given=manifest)


def slices(cluster: Cluster, name: str) -> list[Any]:
    return [item["spec"] for item in cluster.items("resourceslices") if item["spec"]["nodeName"] == name]


def waiting_reason(cluster: Cluster, namespace: str, name: str) -> str:
    statuses = cluster.pod(namespace, name)["status"].get("containerStatuses", [])
    return statuses[0]["state"].get("waiting", {}).get("reason", "") if statuses else ""


def uuids(text: str) -> list[str]:
    return re.findall(r"GPU-[0-9a-f-]{36}", text)


class TestNodes:
    def test_an_aks_node(self, cluster: Cluster) -> None:
        found = cluster.get("node", "aks-gpunp-0")
        conditions = {entry["type"]: entry["status"] for entry in found["status"]["conditions"]}
        assert conditions["Ready"] == "True"
        assert conditions["UnhealthyNvidiaDCGMServices"] == "False"
        assert "UnhealthyNvidiaDevicePlugin" not in conditions
        assert found["spec"].get("taints", []) == []
        assert found["status"]["allocatable"]["cpu"] == "23800m"
        assert found["status"]["nodeInfo"]["kubeletVersion"] == "v1.35.4"
        assert found["spec"]["providerID"].startswith("azure:///")

    def test_what_each_mode_advertises(self, cluster: Cluster) -> None:
        others = [node(f"aks-{mode}-0", mode[:12], mode) for mode in ("driver-only", "driverless")]
        cluster.plan([*cluster.nodes, *others])
        gpus = {
            item["metadata"]["name"]: item["status"]["allocatable"].get("nvidia.com/gpu")
            for item in cluster.items("nodes")
        }
        assert {name for name, count in gpus.items() if count} == {"aks-plugin-0"}
        assert gpus["aks-plugin-0"] == "2"
        publishing = eventually(lambda: {item["spec"]["nodeName"] for item in cluster.items("resourceslices")})
        assert publishing == {"aks-gpunp-0"}

    def test_a_slice_of_the_driver(self, cluster: Cluster) -> None:
        (found,) = eventually(
            lambda: [item for item in cluster.items("resourceslices") if item["spec"]["nodeName"] == "aks-gpunp-0"]
        )
        assert found["metadata"]["name"].startswith("00000-gpu.nvidia.com-aks-gpunp-0-")
        (owner,) = found["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("Node", "aks-gpunp-0", True)
        assert found["spec"]["pool"]["name"] == "aks-gpunp-0"
        (device,) = found["spec"]["devices"]
        attributes = {name: next(iter(value.values())) for name, value in device["attributes"].items()}
        assert uuids(attributes.pop("uuid"))
        assert attributes == {
            "type": "gpu",
            "productName": "NVIDIA A100 80GB PCIe",
            "brand": "Nvidia",
            "architecture": "Ampere",
            "cudaComputeCapability": "8.0.0",
            "driverVersion": "580.126.9",
            "cudaDriverVersion": "13.0.0",
            "resource.kubernetes.io/pciBusID": "0001:00:00.0",
            "resource.kubernetes.io/pcieRoot": "pci0001:00",
        }
        assert device["capacity"] == {"memory": {"value": "80Gi"}}

    def test_the_plan_is_followed_and_others_are_left_alone(self, cluster: Cluster) -> None:
        cluster.kubectl("label", "node", "aks-gpunp-0", "team=blue", "--overwrite")
        cluster.kubectl("taint", "node", "aks-gpunp-0", "mine=yes:NoSchedule", "--overwrite")
        cluster.kubectl("cordon", "aks-gpunp-0")
        first, *rest = cluster.nodes
        taints = [TaintPlan(key="sku", value="gpu", effect="NoSchedule")]
        labels = {**first.labels, "kubernetes.azure.com/mode": "user"}
        changed = first.model_copy(update={"labels": labels, "taints": taints, "kubelet_version": "v1.36.1"})
        cluster.plan([changed, *rest])

        def taint_keys() -> set[str]:
            return {taint["key"] for taint in cluster.get("node", "aks-gpunp-0")["spec"].get("taints", [])}

        eventually(lambda: taint_keys() == {"mine", "sku", "node.kubernetes.io/unschedulable"}, "the plan's taint")
        eventually(
            lambda: cluster.get("node", "aks-gpunp-0")["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.1",
            "the version",
        )
        metadata = cluster.get("node", "aks-gpunp-0")["metadata"]
        assert metadata["labels"]["team"] == "blue"
        assert metadata["labels"]["kubernetes.azure.com/mode"] == "user"

        cluster.plan([first, *rest])
        cluster.kubectl("uncordon", "aks-gpunp-0")
        eventually(lambda: taint_keys() == {"mine"}, "only the taint of others")
        labels_now = cluster.get("node", "aks-gpunp-0")["metadata"]["labels"]
        assert "kubernetes.azure.com/mode" not in labels_now
        cluster.kubectl("taint", "node", "aks-gpunp-0", "mine-")
        cluster.kubectl("label", "node", "aks-gpunp-0", "team-")

    def test_a_node_that_leaves_takes_pods_and_slices_along(self, cluster: Cluster, namespace: str) -> None:
        extra = node("aks-extra-0", "extra")
        cluster.plan([*cluster.nodes, extra])
        eventually(lambda: slices(cluster, "aks-extra-0"), "its slice")
        create(cluster, namespace, pod("tenant", "[serve]", "nodeSelector: {agentpool: extra}"))
        cluster.wait_phase(namespace, "tenant", "Running")
        cluster.plan(cluster.nodes[:-1])
        cluster.kubectl("wait", "--for=delete", "pod/tenant", "-n", namespace, "--timeout=20s")
        eventually(lambda: not slices(cluster, "aks-extra-0"), "the slice to go")

    def test_a_bad_plan_changes_nothing(self, cluster: Cluster) -> None:
        plan = cluster.folder / "nodes.json"
        good = plan.read_text()
        scratch = cluster.folder / "bad.json"
        for bad in (
            '{"nodes": [',
            good.replace('"gpuMode":"dra"', '"gpuMode":"magic"'),
            '{"nodes": [], "faults": {"x": null}}',
        ):
            scratch.write_text(bad)
            scratch.replace(plan)
        log = cluster.folder / "logs" / "aksgpu-nodes.log"
        eventually(lambda: "there is no node fault" in log.read_text(), "the complaint")
        assert len(cluster.items("nodes")) == len(cluster.nodes)
        scratch.write_text(good)
        scratch.replace(plan)

    def test_a_deleted_slice_comes_back(self, cluster: Cluster) -> None:
        (before,) = eventually(lambda: slices(cluster, "aks-gpunp-0"))
        cluster.kubectl("delete", "resourceslices", "--all")
        (after,) = eventually(lambda: slices(cluster, "aks-gpunp-0"), "the slice again")
        assert after["devices"] == before["devices"]
        assert after["pool"]["generation"] > before["pool"]["generation"]


class TestPods:
    def test_only_the_granted_devices_are_seen(self, cluster: Cluster, namespace: str) -> None:
        create(cluster, namespace, claiming_pod("user"))
        running = cluster.wait_phase(namespace, "user", "Running")
        claim = cluster.get("resourceclaim", "user", "-n", namespace)
        (result,) = claim["status"]["allocation"]["devices"]["results"]
        (spec,) = slices(cluster, running["spec"]["nodeName"])
        (device,) = [entry for entry in spec["devices"] if entry["name"] == result["device"]]
        seen = eventually(lambda: uuids(cluster.kubectl("logs", "-n", namespace, "user", "-c", "main")), "the log")
        assert seen == [device["attributes"]["uuid"]["string"]]
        inside = ["exec", "-n", namespace, "user", "-c", "main", "--"]
        assert uuids(cluster.kubectl(*inside, "nvidia-smi", "-L")) == seen
        assert "NVIDIA A100 80GB PCIe" in cluster.kubectl(*inside, "nvidia-smi")
        assert "NVIDIA_VISIBLE_DEVICES=void" in cluster.kubectl(*inside, "env").splitlines()
        refused = cluster.run("exec", "-n", namespace, "user", "-c", "beside", "--", "nvidia-smi", ok=False)
        assert "executable file not found in $PATH" in refused.stderr
        assert refused.returncode == 127

    def test_the_device_plugin_gives_each_container_its_own(self, cluster: Cluster, namespace: str) -> None:
        limits = ", resources: {limits: {nvidia.com/gpu: 1}}"
        for name in ("one", "two"):
            create(cluster, namespace, pod(name, "[sh, -c, 'nvidia-smi -L; serve']", container=limits))
        for name in ("one", "two"):
            cluster.wait_phase(namespace, name, "Running")
        seen = [
            eventually(lambda name=name: uuids(cluster.kubectl("logs", "-n", namespace, name)), "the log")
            for name in ("one", "two")
        ]
        assert len({uuid for found in seen for uuid in found}) == 2
        env = cluster.kubectl("exec", "-n", namespace, "one", "--", "env")
        assert f"NVIDIA_VISIBLE_DEVICES={seen[0][0]}" in env

        # The scheduler is bypassed, so the kubelet has to notice.
        create(cluster, namespace, pod("third", "[serve]", "nodeName: aks-plugin-0", limits))
        failed = cluster.wait_phase(namespace, "third", "Failed")
        assert failed["status"]["reason"] == "OutOfnvidia.com/gpu"
        assert "used: 2, capacity: 2" in failed["status"]["message"]

        cluster.kubectl("delete", "pod", "one", "-n", namespace)
        create(cluster, namespace, pod("fourth", "[sh, -c, 'nvidia-smi -L; serve']", container=limits))
        cluster.wait_phase(namespace, "fourth", "Running")
        assert eventually(lambda: uuids(cluster.kubectl("logs", "-n", namespace, "fourth"))) == seen[0]

    def test_nvidia_smi_without_a_grant(self, cluster: Cluster, namespace: str) -> None:
        create(cluster, namespace, pod("direct", "[nvidia-smi]"))
        create(cluster, namespace, pod("shell", "[sh, -c, nvidia-smi]"))
        state = cluster.wait_phase(namespace, "direct", "Failed")["status"]["containerStatuses"][0]["state"][
            "terminated"
        ]
        assert (state["reason"], state["exitCode"]) == ("StartError", 128)
        assert 'exec: "nvidia-smi": executable file not found in $PATH' in state["message"]
        assert "executable file not found" in cluster.wait_event(namespace, "direct", "Failed")
        state = cluster.wait_phase(namespace, "shell", "Failed")["status"]["containerStatuses"][0]["state"][
            "terminated"
        ]
        assert (state["reason"], state["exitCode"]) == ("Error", 127)
        assert "nvidia-smi: not found" in cluster.kubectl("logs", "-n", namespace, "shell")

    @pytest.mark.parametrize(
        ("name", "command", "phase", "code"),
        [
            ("ok", "['true']", "Succeeded", 0),
            ("exit", "[sh, -c, 'for i in 1 2; do echo $i; done; exit 7']", "Failed", 7),
            ("sleep", "[sleep, '1']", "Succeeded", 0),
        ],
    )
    def test_commands_end(
        self, cluster: Cluster, namespace: str, name: str, command: str, phase: str, code: int
    ) -> None:
        create(cluster, namespace, pod(name, command))
        ended = cluster.wait_phase(namespace, name, phase)
        assert ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code

    def test_unknown_commands_run_until_told_otherwise(self, cluster: Cluster, namespace: str) -> None:
        create(cluster, namespace, pod("server", "[python, serve.py]"))
        create(
            cluster,
            namespace,
            pod("trainer", "[python, train.py]").replace(
                "{name: trainer}", "{name: trainer, annotations: {twin.aksgpu/exit-code: '3'}}"
            ),
        )
        ended = cluster.wait_phase(namespace, "trainer", "Failed")
        assert ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3
        assert cluster.pod(namespace, "server")["status"]["phase"] == "Running"

    def test_init_containers_and_restarts(self, cluster: Cluster, namespace: str) -> None:
        manifest = pod("loop", "[sh, -c, 'echo round; exit 1']", "restartPolicy: Always").replace(
            "  containers:",
            "  initContainers: [{name: first, image: example, command: [sh, -c, 'echo ready']}]\n  containers:",
        )
        create(cluster, namespace, manifest)
        eventually(lambda: waiting_reason(cluster, namespace, "loop") == "CrashLoopBackOff", "the back-off")
        status = cluster.pod(namespace, "loop")["status"]
        assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
        assert status["containerStatuses"][0]["restartCount"] >= 1
        assert status["phase"] == "Running"
        assert cluster.kubectl("logs", "-n", namespace, "loop", "-c", "first") == "ready\n"
        assert cluster.kubectl("logs", "-n", namespace, "loop", "-c", "main", "--previous") == "round\n"
        assert "failed container main" in cluster.wait_event(namespace, "loop", "BackOff")

    def test_a_followed_log_ends_with_the_container(self, cluster: Cluster, namespace: str) -> None:
        create(cluster, namespace, pod("talker", "[sh, -c, 'echo a; sleep 1; echo b >&2; sleep 1; echo c']"))
        cluster.wait_phase(namespace, "talker", "Running")
        assert cluster.kubectl("logs", "-n", namespace, "talker", "--follow") == "a\nb\nc\n"
        assert cluster.kubectl("logs", "-n", namespace, "talker", "--tail=1") == "c\n"
        assert cluster.kubectl("logs", "-n", namespace, "talker", "--limit-bytes=3") == "a\nb"
        assert cluster.kubectl("logs", "-n", namespace, "talker", "--timestamps").count("Z ") == 3

    def test_exec_says_what_it_cannot_do(self, cluster: Cluster, namespace: str) -> None:
        create(cluster, namespace, pod("box", "[serve]"))
        cluster.wait_phase(namespace, "box", "Running")
        done = cluster.run("exec", "-n", namespace, "box", "--", "ls", "/", ok=False)
        assert 'the twin simulates this container and cannot run "ls /"' in done.stderr
        assert done.returncode == 126
        assert done.stdout == ""
        # The older of the two protocols.
        environment = {**cluster.environment, "KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false"}
        spdy = subprocess.run(
            ["kubectl", "exec", "-n", namespace, "box", "--", "env"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert "HOSTNAME=box" in spdy.stdout.splitlines()
        assert "cannot attach" in cluster.run("attach", "-n", namespace, "box", ok=False).stderr

    def test_a_pod_that_bypassed_the_scheduler_gets_no_device(self, cluster: Cluster, namespace: str) -> None:
        manifest = claiming_pod("past").replace("spec:\n  termination", "spec:\n  nodeName: aks-gpunp-0\n  termination")
        create(cluster, namespace, manifest)
        message = cluster.wait_event(namespace, "past", "FailedPrepareDynamicResources")
        assert message.startswith("Failed to prepare dynamic resources: prepare dynamic resources: pod past (")
        assert "is not allowed to use ResourceClaim past" in message
        assert waiting_reason(cluster, namespace, "past") == "ContainerCreating"

    def test_a_claim_of_another_node_cannot_be_prepared(self, cluster: Cluster, namespace: str) -> None:
        create(cluster, namespace, claiming_pod("holder"))
        cluster.wait_phase(namespace, "holder", "Running")
        # The claim controller reserves an allocated claim for a pod that is already bound, wherever that is.
        share = pod("sharer", "[nvidia-smi]", "nodeName: aks-system-0").replace(
            "spec:\n", "spec:\n  resourceClaims: [{name: gpu, resourceClaimName: holder}]\n"
        )
        create(cluster, namespace, share)
        eventually(
            lambda: any(
                "DRA driver gpu.nvidia.com is not registered" in text for _, text in cluster.events(namespace, "sharer")
            )
        )

    def test_services_find_ready_pods(self, cluster: Cluster, namespace: str) -> None:
        create(cluster, namespace, pod("web", "[serve]").replace("{name: web}", "{name: web, labels: {app: web}}"))
        cluster.wait_phase(namespace, "web", "Running")
        cluster.kubectl("expose", "pod", "web", "-n", namespace, "--port=80")
        address = cluster.pod(namespace, "web")["status"]["podIP"]

        def endpoints() -> list[str]:
            found = cluster.items("endpointslices", "-n", namespace)
            return [text for item in found for entry in item["endpoints"] or [] for text in entry["addresses"]]

        eventually(lambda: endpoints() == [address], "the endpoint")


class TestFaults:
    def test_node_not_ready(self, cluster: Cluster, namespace: str) -> None:
        with cluster.fault("node-not-ready", "gpunp"):
            cluster.kubectl("wait", "--for=condition=Ready=False", "node/aks-gpunp-0", "--timeout=20s")
            taints = {(taint["key"], taint["effect"]) for taint in cluster.get("node", "aks-gpunp-0")["spec"]["taints"]}
            assert taints == {("node.kubernetes.io/not-ready", effect) for effect in ("NoSchedule", "NoExecute")}
            create(cluster, namespace, claiming_pod("waits"))
            assert "untolerated taint" in cluster.wait_event(namespace, "waits", "FailedScheduling")
        cluster.wait_phase(namespace, "waits", "Running")

    def test_no_slices(self, cluster: Cluster) -> None:
        with cluster.fault("no-slices"):
            eventually(lambda: not slices(cluster, "aks-gpunp-0"), "no slice")
        eventually(lambda: slices(cluster, "aks-gpunp-0"), "the slice again")

    def test_incomplete_pool(self, cluster: Cluster, namespace: str) -> None:
        with cluster.fault("incomplete-pool"):
            eventually(lambda: slices(cluster, "aks-gpunp-0")[0]["pool"]["resourceSliceCount"] == 2, "the count")
            create(cluster, namespace, claiming_pod("waits"))
            assert cluster.wait_event(namespace, "waits", "FailedScheduling")
        cluster.wait_phase(namespace, "waits", "Running")

    def test_stale_generation(self, cluster: Cluster, namespace: str) -> None:
        with cluster.fault("stale-generation"):
            eventually(lambda: len(slices(cluster, "aks-gpunp-0")) == 2, "the stale slice")
            old, new = sorted(entry["pool"]["generation"] for entry in slices(cluster, "aks-gpunp-0"))
            assert new == old + 1
            create(cluster, namespace, claiming_pod("served"))
            cluster.wait_phase(namespace, "served", "Running")
        eventually(lambda: len(slices(cluster, "aks-gpunp-0")) == 1, "the stale slice to go")

    def test_tainted_devices_are_dropped_by_an_old_server(self, cluster: Cluster) -> None:
        (before,) = eventually(lambda: slices(cluster, "aks-gpunp-0"))
        with cluster.fault("tainted-devices"):
            eventually(lambda: slices(cluster, "aks-gpunp-0")[0]["pool"]["generation"] > before["pool"]["generation"])
            assert "taints" not in slices(cluster, "aks-gpunp-0")[0]["devices"][0]

    def test_prepare_fails(self, cluster: Cluster, namespace: str) -> None:
        with cluster.fault("prepare-fails", "gpunp"):
            create(cluster, namespace, claiming_pod("stuck"))
            message = cluster.wait_event(namespace, "stuck", "FailedPrepareDynamicResources")
            assert "NodePrepareResources failed for ResourceClaim stuck" in message
            assert waiting_reason(cluster, namespace, "stuck") == "ContainerCreating"
            assert cluster.pod(namespace, "stuck")["status"]["phase"] == "Pending"
        cluster.wait_phase(namespace, "stuck", "Running")

    def test_image_pull(self, cluster: Cluster, namespace: str) -> None:
        with cluster.fault("image-pull", "system"):
            create(cluster, namespace, pod("puller", "[serve]", "nodeSelector: {agentpool: system}"))
            eventually(lambda: waiting_reason(cluster, namespace, "puller") == "ErrImagePull", "the failure")
            eventually(lambda: waiting_reason(cluster, namespace, "puller") == "ImagePullBackOff", "the back-off")
            assert "Failed to pull image" in cluster.wait_event(namespace, "puller", "Failed")
        cluster.wait_phase(namespace, "puller", "Running")


class TestDeaths:
    def kill(self, cluster: Cluster, part: str) -> None:
        old = cluster.plane.processes()[part]
        os.kill(old, signal.SIGKILL)
        eventually(
            lambda: [*cluster.plane.tend(), cluster.plane.processes().get(part, old)][-1] != old, f"a new {part}"
        )

    def test_a_killed_kubelet_takes_everything_up_again(self, cluster: Cluster, namespace: str) -> None:
        limits = ", resources: {limits: {nvidia.com/gpu: 1}}"
        create(cluster, namespace, claiming_pod("keeper"))
        create(cluster, namespace, pod("plugin", "[sh, -c, 'nvidia-smi -L; serve']", container=limits))
        create(cluster, namespace, pod("counter", "[sh, -c, 'echo begun; sleep 6; echo ended']"))
        before = {name: cluster.wait_phase(namespace, name, "Running") for name in ("keeper", "plugin", "counter")}
        held = eventually(lambda: uuids(cluster.kubectl("logs", "-n", namespace, "plugin")))
        generation = slices(cluster, "aks-gpunp-0")[0]["pool"]["generation"]
        self.kill(cluster, "aksgpu-nodes")
        create(cluster, namespace, pod("rival", "[sh, -c, 'nvidia-smi -L; serve']", container=limits))
        cluster.wait_phase(namespace, "rival", "Running")
        cluster.wait_phase(namespace, "counter", "Succeeded")
        assert cluster.kubectl("logs", "-n", namespace, "counter") == "begun\nended\n"
        for name in ("keeper", "plugin"):
            now = cluster.pod(namespace, name)
            assert now["status"]["podIP"] == before[name]["status"]["podIP"]
            assert now["status"]["containerStatuses"] == before[name]["status"]["containerStatuses"]
        assert uuids(cluster.kubectl("exec", "-n", namespace, "plugin", "--", "nvidia-smi", "-L")) == held
        assert eventually(lambda: uuids(cluster.kubectl("logs", "-n", namespace, "rival"))) != held
        assert slices(cluster, "aks-gpunp-0")[0]["pool"]["generation"] == generation

    def test_a_killed_api_server_is_waited_for(self, cluster: Cluster, namespace: str) -> None:
        create(cluster, namespace, pod("sleeper", "[sh, -c, 'sleep 2; echo done']"))
        cluster.wait_phase(namespace, "sleeper", "Running")
        self.kill(cluster, "kube-apiserver")
        eventually(lambda: cluster.run("get", "--raw", "/readyz", ok=None).returncode == 0, "the API server")
        cluster.wait_phase(namespace, "sleeper", "Succeeded")
        create(cluster, namespace, pod("after", "['true']"))
        cluster.wait_phase(namespace, "after", "Succeeded")
