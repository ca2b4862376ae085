"""Creations that were under way when `pulumi` was killed: which of them were finished, and under which id."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aksgpu.errors import AksgpuError

Exists = Callable[["PendingCreate"], bool]
"""Tells whether the object is there, waiting until whoever makes it is done."""


@dataclass(frozen=True)
class PendingCreate:
    """A resource whose creation was sent, and whose answer nobody saw."""

    urn: str
    type: str
    id: str
    inputs: Mapping[str, Any]

    @property
    def in_kubernetes(self) -> bool:
        """Whether the object lives in the cluster, else in Azure."""
        return self.type.startswith("kubernetes:")


def creates(deployment: Mapping[str, Any], subscription: str) -> list[PendingCreate]:
    """Return the pending creations in an exported deployment; AksgpuError for a type whose id can't be told."""
    pending = [
        operation["resource"]
        for operation in deployment.get("pending_operations") or []
        if operation["type"] == "creating" and operation["resource"].get("custom")
    ]
    return [
        PendingCreate(r["urn"], r["type"], _id(r["type"], r.get("inputs", {}), subscription, r["urn"]), r["inputs"])
        for r in pending
    ]


def cluster(deployment: Mapping[str, Any]) -> str | None:
    """Return the ARM id of the cluster that the deployment's Kubernetes objects are in, or None without any."""
    for resource in deployment.get("resources") or []:
        if resource["type"] == "pulumi:providers:kubernetes":
            return resource.get("inputs", {}).get("clusterIdentifier")
    return None


def _id(token: str, inputs: Mapping[str, Any], subscription: str, urn: str) -> str:
    if token.startswith("kubernetes:"):
        metadata = inputs["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else metadata["name"]
    form = _ARM_IDS.get(token)
    if form is None:
        raise AksgpuError(
            f"A creation of {urn} was under way when pulumi was killed, and the id of a {token} can't be told from "
            f"its inputs. Look whether it exists, then run `pulumi refresh --import-pending-creates {urn} "
            "--import-pending-creates ID` if it does, or `pulumi refresh --clear-pending-creates` if it doesn't."
        )
    return f"/subscriptions/{subscription}/resourceGroups/{form(inputs)}"


def _generic(inputs: Mapping[str, Any]) -> str:
    parts = (inputs["resourceGroupName"], "providers", inputs["resourceProviderNamespace"])
    return "/".join((*parts, inputs["parentResourcePath"], inputs["resourceType"], inputs["resourceName"]))


_AKS = "providers/Microsoft.ContainerService/managedClusters"
_ARM_IDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "azure-native:resources:ResourceGroup": lambda i: i["resourceGroupName"],
    "azure-native:resources:Resource": _generic,
    "azure-native:containerservice:ManagedCluster": lambda i: f"{i['resourceGroupName']}/{_AKS}/{i['resourceName']}",
    "azure-native:containerservice:AgentPool": lambda i: (
        f"{i['resourceGroupName']}/{_AKS}/{i['resourceName']}/agentPools/{i['agentPoolName']}"
    ),
}


def refresh_arguments(pending: list[PendingCreate], exists: Exists) -> list[str]:
    """Return the arguments of `pulumi refresh` that take over what was finished and drop what was not."""
    taken = [create for create in pending if exists(create)]
    arguments = ["refresh", "--yes", "--skip-preview"]
    for create in taken:
        arguments += ["--import-pending-creates", create.urn, "--import-pending-creates", create.id]
    if len(taken) < len(pending):
        arguments.append("--clear-pending-creates")
    return arguments
