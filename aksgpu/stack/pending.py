"""Operations that were under way when `pulumi` was killed: what they were about, and the state without them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aksgpu.errors import AksgpuError


@dataclass(frozen=True)
class PendingCreate:
    """A resource whose creation was sent, and whose answer nobody saw."""

    urn: str
    id: str
    """ARM id."""
    api_version: str
    """The one to read it with."""


def urns(deployment: Mapping[str, Any], kind: str) -> list[str]:
    """Return the URNs of the pending operations of one kind, e.g. `deleting` or `updating`."""
    pending = deployment.get("pending_operations") or []
    return [operation["resource"]["urn"] for operation in pending if operation["type"] == kind]


def creates(deployment: Mapping[str, Any], subscription: str) -> list[PendingCreate]:
    """Return the pending creations of Azure resources; AksgpuError for a type whose id can't be told.

    Kubernetes objects are left out: the provider applies them server-side, so that creating one that is there
    already gives the same object.
    """
    pending = [
        operation["resource"]
        for operation in deployment.get("pending_operations") or []
        if operation["type"] == "creating" and operation["resource"].get("custom")
    ]
    return [
        _azure(resource, subscription) for resource in pending if not resource["type"].startswith(_NOTHING_TO_TAKE_OVER)
    ]


def _azure(resource: Mapping[str, Any], subscription: str) -> PendingCreate:
    urn, token, inputs = resource["urn"], resource["type"], resource.get("inputs", {})
    form = _ARM_IDS.get(token)
    if form is None:
        raise AksgpuError(
            f"A creation of {urn} was under way when pulumi was killed, and the id of a {token} can't be told from "
            "its inputs. Look whether it exists; if it does, `pulumi import` it or delete it. Then drop the record: "
            "pulumi refresh --clear-pending-creates"
        )
    identifier = f"/subscriptions/{subscription}/resourceGroups/{form.id(inputs)}"
    return PendingCreate(urn, identifier, str(inputs.get("apiVersion") or form.api_version))


def _generic(inputs: Mapping[str, Any]) -> str:
    parts = (inputs["resourceGroupName"], "providers", inputs["resourceProviderNamespace"])
    return "/".join((*parts, inputs["parentResourcePath"], inputs["resourceType"], inputs["resourceName"]))


_NOTHING_TO_TAKE_OVER = ("kubernetes:", "pulumi:")
_AKS = "providers/Microsoft.ContainerService/managedClusters"


@dataclass(frozen=True)
class _Form:
    """How a type's id follows from its inputs, below `…/resourceGroups/`."""

    id: Callable[[Mapping[str, Any]], str]
    api_version: str


_ARM_IDS = {
    "azure-native:resources:ResourceGroup": _Form(lambda i: i["resourceGroupName"], "2024-11-01"),
    "azure-native:resources:Resource": _Form(_generic, ""),
    "azure-native:containerservice:ManagedCluster": _Form(
        lambda i: f"{i['resourceGroupName']}/{_AKS}/{i['resourceName']}", "2025-09-01"
    ),
    "azure-native:containerservice:AgentPool": _Form(
        lambda i: f"{i['resourceGroupName']}/{_AKS}/{i['resourceName']}/agentPools/{i['agentPoolName']}", "2025-09-01"
    ),
}


def settle(exported: Mapping[str, Any], taken: Sequence[PendingCreate]) -> dict[str, Any]:
    """Return the exported state without pending operations, and with the creations that were finished.

    `pulumi refresh --import-pending-creates` is meant for this, but the engine drops what it names. What is added
    has an id and inputs only; a refresh of these resources fills in the rest.
    """
    deployment = dict(exported["deployment"])
    ids = {create.urn: create.id for create in taken}
    finished = [
        {**operation["resource"], "id": ids[operation["resource"]["urn"]]}
        for operation in deployment.pop("pending_operations", [])
        if operation["type"] == "creating" and operation["resource"]["urn"] in ids
    ]
    deployment["resources"] = [*deployment.get("resources", []), *finished]
    return {**exported, "deployment": deployment}
