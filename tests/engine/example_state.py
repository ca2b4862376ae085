"""One Pulumi state that holds many examples of the rule book, each with a cluster and providers of its own."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.examples import Example, Resource

_STACK = "urn:pulumi:dev::aksgpu::pulumi:pulumi:Stack::aksgpu-dev"
_ENGINE_UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UUID = "11111111-1111-1111-1111-111111111111"
_ARM = "/subscriptions/0/resourceGroups/rg-dev/providers/Microsoft.ContainerService/managedClusters"


def state_of(examples: Iterable[tuple[int, Example]], *, identified: bool = True) -> str:
    """Return the state as `pulumi stack export` writes it; resources are named `<index>.<name>`.

    `identified` is whether Kubernetes objects say which cluster they are in.
    """
    resources: list[dict[str, Any]] = [{"urn": _STACK, "custom": False, "type": "pulumi:pulumi:Stack"}]
    resources += [_provider(package, package, {}) for package in ("azure-native", "azure", "azapi")]
    for index, example in examples:
        cluster = {"clusterIdentifier": f"{_ARM}/aks-{index}"} if identified else {}
        resources.append(_provider("kubernetes", f"{index}", cluster))
        for item in as_resources(example):
            resources.append(_resource(item, index))
    manifest = {"time": "2026-01-01T00:00:00Z", "magic": "", "version": ""}
    return json.dumps({"version": 3, "deployment": {"manifest": manifest, "resources": resources}})


def as_resources(example: Example) -> Iterator[Resource]:
    """Yield everything in an example in the form in which a Pulumi program has it."""
    yield from example.resources
    for index, item in enumerate(example.manifests):
        version = item["apiVersion"]
        module = version if "/" in version else f"core/{version}"
        yield Resource(f"object{index}", f"kubernetes:{module}:{item['kind']}", item)
    for component, values in _installed(example):
        release = {"name": component, "chart": component, "values": values}
        yield Resource(component, "kubernetes:helm.sh/v3:Release", release)
    if example.cluster_version is not None:
        cluster = {
            "resourceGroupName": "rg-dev",
            "resourceName": "aks-dev",
            "kubernetesVersion": example.cluster_version,
        }
        yield Resource("cluster", "azure-native:containerservice:ManagedCluster", cluster)


def _installed(example: Example) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the components that a program would have: one that is switched off isn't in it."""
    for component, values in (example.values or {}).items():
        if values is None or values.get("enabled") is not False:
            yield component, {key: value for key, value in (values or {}).items() if key != "enabled"}


def _own(value: Any, index: int) -> Any:
    """Give an example its own cluster, and write unknown values as the engine does."""
    match value:
        case dict():
            return {key: _own(item, index) for key, item in value.items()}
        case list():
            return [_own(item, index) for item in value]
        case str():
            return value.replace("aks-dev", f"aks-{index}").replace("aks-old", f"aks-old-{index}")
    return _ENGINE_UNKNOWN if value is UNKNOWN else value


def _provider(package: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    type_ = f"pulumi:providers:{package}"
    urn = f"urn:pulumi:dev::aksgpu::{type_}::{name}"
    return {"urn": urn, "custom": True, "id": _UUID, "type": type_, "inputs": inputs, "outputs": inputs}


def _resource(item: Resource, index: int) -> dict[str, Any]:
    package = item.type.partition(":")[0].partition("_")[0]
    provider = f"{index}" if package == "kubernetes" else package
    properties = _own(item.properties, index)
    name = f"{index}.{item.name}"
    return {
        "urn": f"urn:pulumi:dev::aksgpu::{item.type}::{name}",
        "custom": True,
        "id": name,
        "type": item.type,
        "inputs": properties,
        "outputs": properties,
        "parent": _STACK,
        "provider": f"urn:pulumi:dev::aksgpu::pulumi:providers:{package}::{provider}::{_UUID}",
    }
