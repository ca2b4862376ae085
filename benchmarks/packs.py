"""What the packs cost beside packs that do nothing, and that the cost grows with the resources and no faster."""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.inside import Inside, running_twin
from benchmarks.report import Ratio, show

CHECKOUT = Path(__file__).parents[1]
STACK = "urn:pulumi:dev::fleet::pulumi:pulumi:Stack::fleet-dev"
ARM = "/subscriptions/0/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters"
SETTINGS = "runtime:\n  name: python\n  options: {{virtualenv: {venv}}}\n"
NO_OP = """\
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy, StackValidationPolicy

from aksgpu.packs import {pack}

POLICIES = [
    type(policy)(
        name=policy.name,
        description=policy.description,
        validate=lambda args, report: None,
        enforcement_level=EnforcementLevel.ADVISORY,
    )
    for policy in {pack}()
]
PolicyPack(name="no-op-{pack}", policies=POLICIES)
"""
OURS = """\
from pulumi_policy import EnforcementLevel, PolicyPack

from aksgpu.packs import {pack}

POLICIES = {pack}()
for policy in POLICIES:
    policy.enforcement_level = EnforcementLevel.ADVISORY
PolicyPack(name="aksgpu-{pack}", policies=POLICIES)
"""
"""The pack itself; as advice, so that a finding doesn't end the command with an error."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 0 when the promises are kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packs", description=__doc__)
    parser.add_argument("--resources", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="aksgpu-packs-") as folder, running_twin() as twin:
        return show(_measure(twin, Path(folder), asked.resources, asked.rounds))


def _measure(twin: Inside, folder: Path, resources: int, rounds: int) -> list[Ratio]:
    ours = [_pack(folder, pack, OURS, "ours") for pack in ("guardrails", "advice")]
    nothing = [_pack(folder, pack, NO_OP, "nothing") for pack in ("guardrails", "advice")]
    empty, small, middle, large = (_state(folder, count) for count in (0, resources // 10, resources, resources * 2))
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, packs, state in (
            ("ours", ours, middle),
            ("nothing", nothing, middle),
            ("empty", ours, empty),
            ("small", ours, small),
            ("large", ours, large),
        ):
            times.setdefault(name, []).append(_seconds(twin, packs, state, folder))
    best = {name: min(found) for name, found in times.items()}
    small_ones, large_ones = ((best[name] - best["empty"]) for name in ("small", "large"))
    return [
        Ratio(f"packs against packs that do nothing, {resources} resources", best["ours"], best["nothing"], 1.3),
        Ratio(f"each of {resources * 2} resources against each of {resources // 10}", large_ones / 20, small_ones, 1.3),
    ]


def _seconds(twin: Inside, packs: list[Path], state: Path, folder: Path) -> float:
    arguments = [part for pack in packs for part in ("--policy-pack", str(pack))]
    return twin.seconds("pulumi", "policy", "analyze", *arguments, "--file", str(state), cwd=folder)


def _pack(folder: Path, pack: str, program: str, name: str) -> Path:
    made = folder / f"{name}-{pack}"
    made.mkdir()
    (made / "PulumiPolicy.yaml").write_text(SETTINGS.format(venv=CHECKOUT / ".venv"))
    (made / "__main__.py").write_text(program.format(pack=pack))
    return made


def _state(folder: Path, count: int) -> Path:
    """Write a state of clusters with pools, charts and workloads of all sorts, most of them without GPUs."""
    resources = [{"urn": STACK, "custom": False, "type": "pulumi:pulumi:Stack"}]
    for index in range(count // 50):
        resources += _cluster(index)
    manifest = {"time": "2026-01-01T00:00:00Z", "magic": "", "version": ""}
    file = folder / f"{count}.json"
    file.write_text(json.dumps({"version": 3, "deployment": {"manifest": manifest, "resources": resources}}))
    return file


def _cluster(index: int) -> Iterator[dict[str, Any]]:
    """Yield the 50 resources of one cluster, as an ordinary team would have them."""
    name = f"aks-{index}"
    provider = {"clusterIdentifier": f"{ARM}/{name}"}
    yield _provider("kubernetes", name, provider)
    yield _resource(
        "azure-native:containerservice:ManagedCluster",
        name,
        {"resourceGroupName": "rg", "resourceName": name, "kubernetesVersion": "1.35", "agentPoolProfiles": [SYSTEM]},
    )
    for pool in range(3):
        yield _resource("azure-native:resources:Resource", f"{name}-gpu{pool}", _pool(name, pool))
    values = {"devicePlugin": {"enabled": False}, "daemonsets": {"nodeSelector": {"gpu": "own"}}}
    release = {"name": "gpu", "chart": "nvidia/gpu-operator", "values": values}
    yield _resource("kubernetes:helm.sh/v3:Release", f"{name}-gpu", release, name)
    for app in range(14):
        for kind, body in _app(app).items():
            yield _resource(f"kubernetes:{kind}", f"{name}-{app}", body, name)
    for other in range(2):
        yield _resource("azure-native:storage:StorageAccount", f"{name}-{other}", {"sku": {"name": "Standard_LRS"}})


SYSTEM = {"name": "system", "mode": "System", "count": 3, "vmSize": "Standard_D4s_v5", "osType": "Linux"}


def _pool(cluster: str, index: int) -> dict[str, Any]:
    nvidia = {"managementMode": "Managed", "driverMode": "DRA"}
    return {
        "apiVersion": "2026-08-02-preview",
        "resourceGroupName": "rg",
        "resourceProviderNamespace": "Microsoft.ContainerService",
        "parentResourcePath": f"managedClusters/{cluster}",
        "resourceType": "agentPools",
        "resourceName": f"gpu{index}",
        "properties": {
            "vmSize": "Standard_NC24ads_A100_v4",
            "count": 2,
            "nodeLabels": {"gpu": "dra"},
            "nodeTaints": ["sku=gpu:NoSchedule"],
            "upgradeSettings": {"maxSurge": "1"},
            "gpuProfile": {"nvidia": nvidia},
        },
    }


def _app(index: int) -> dict[str, dict[str, Any]]:
    """Return a Deployment, its Service and its ConfigMap."""
    metadata = {"name": f"app{index}", "namespace": "shop", "labels": {"app": f"app{index}"}}
    container = {
        "name": "main",
        "image": f"registry.example.com/shop/app{index}:1.4.2",
        "ports": [{"containerPort": 8080}],
        "env": [{"name": f"SETTING_{number}", "value": "x" * 30} for number in range(8)],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
    }
    template = {"metadata": {"labels": metadata["labels"]}, "spec": {"containers": [container]}}
    return {
        "apps/v1:Deployment": {"metadata": metadata, "spec": {"replicas": 2, "template": template}},
        "core/v1:Service": {"metadata": metadata, "spec": {"ports": [{"port": 80, "targetPort": 8080}]}},
        "core/v1:ConfigMap": {"metadata": metadata, "data": {f"key{number}": "y" * 60 for number in range(10)}},
    }


UUID = "11111111-1111-1111-1111-111111111111"


def _provider(package: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    type_ = f"pulumi:providers:{package}"
    urn = f"urn:pulumi:dev::fleet::{type_}::{name}"
    return {"urn": urn, "custom": True, "id": UUID, "type": type_, "inputs": inputs, "outputs": inputs}


def _resource(type_: str, name: str, properties: dict[str, Any], provider: str = "") -> dict[str, Any]:
    resource = {
        "urn": f"urn:pulumi:dev::fleet::{type_}::{name}",
        "custom": True,
        "id": name,
        "type": type_,
        "inputs": properties,
        "outputs": properties,
        "parent": STACK,
    }
    if provider:
        resource["provider"] = f"urn:pulumi:dev::fleet::pulumi:providers:kubernetes::{provider}::{UUID}"
    return resource


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
