"""One Pulumi state that holds every example of the rule book, each with a cluster and providers of its own."""

import json
from typing import Any

from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.examples import Example

_STACK = "urn:pulumi:dev::aksgpu::pulumi:pulumi:Stack::aksgpu-dev"
_ENGINE_UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UUID = "11111111-1111-1111-1111-111111111111"
_ARM = "/subscriptions/0/resourceGroups/rg-dev/providers/Microsoft.ContainerService/managedClusters"


def state_of(examples: list[Example]) -> str:
    """Return the state as `pulumi stack export` writes it; resources are named `<index>.<name>`."""
    resources: list[dict[str, Any]] = [{"urn": _STACK, "custom": False, "type": "pulumi:pulumi:Stack"}]
    resources.append(_provider("azure-native", "azure", {}))
    for index, example in enumerate(examples):
        cluster = {"clusterIdentifier": f"{_ARM}/aks-{index}"}
        resources.append(_provider("kubernetes", f"{index}", cluster))
        for item in example.resources:
            provider = f"{index}" if item.type.startswith("kubernetes:") else "azure"
            resources.append(_resource(item.type, f"{index}.{item.name}", _own(item.properties, index), provider))
    manifest = {"time": "2026-01-01T00:00:00Z", "magic": "", "version": ""}
    return json.dumps({"version": 3, "deployment": {"manifest": manifest, "resources": resources}})


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


def _resource(type_: str, name: str, properties: dict[str, Any], provider: str) -> dict[str, Any]:
    package = "kubernetes" if type_.startswith("kubernetes:") else "azure-native"
    return {
        "urn": f"urn:pulumi:dev::aksgpu::{type_}::{name}",
        "custom": True,
        "id": name,
        "type": type_,
        "inputs": properties,
        "outputs": properties,
        "parent": _STACK,
        "provider": f"urn:pulumi:dev::aksgpu::pulumi:providers:{package}::{provider}::{_UUID}",
    }
