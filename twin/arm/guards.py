"""What is checked before a resource is written or read: that its parents exist and that nobody else is at it."""

from typing import Any

from twin.arm.errors import ArmError, not_found
from twin.arm.http import Request
from twin.arm.operations import Operation
from twin.arm.service import Document, Service

_SEE = "See https://aka.ms/aks-pending-operation for more details"
_READ_ONLY = {
    "eTag",
    "provisioningState",
    "currentOrchestratorVersion",
    "nodeImageVersion",
    "status",
    "virtualMachineNodesStatus",
    "currentKubernetesVersion",
    "maxAgentPools",
    "fqdn",
    "privateFQDN",
    "azurePortalFQDN",
    "resourceUID",
}


def group(service: Service, request: Request) -> Document:
    """Return the resource group in the path; raises ArmError (404) when there is none."""
    found = service.store.get(request.group_id)
    if found is None:
        raise ArmError(404, "ResourceGroupNotFound", f"Resource group '{request.args['group']}' could not be found.")
    return found


def cluster(service: Service, request: Request) -> Document:
    """Return the managed cluster in the path; raises ArmError (404) when there is none."""
    group(service, request)
    found = service.store.get(request.cluster_id)
    if found is None:
        raise not_found(request.cluster_id, request.args["group"])
    return found


def pool(service: Service, request: Request) -> Document:
    """Return the agent pool in the path; raises ArmError (404) when there is none."""
    cluster(service, request)
    found = service.store.get(request.pool_id)
    if found is None:
        raise not_found(request.pool_id, request.args["group"])
    return found


def without_read_only(properties: dict[str, Any]) -> dict[str, Any]:
    """Return a body's properties without those that only the service sets; Azure ignores them, too."""
    return {key: value for key, value in properties.items() if key not in _READ_ONLY}


def preconditions(request: Request, found: Document | None) -> None:
    """Raise ArmError (412) when the If-Match or If-None-Match header doesn't hold."""
    wanted, unwanted = request.headers.get("if-match"), request.headers.get("if-none-match")
    etag = found["properties"].get("eTag") if found else None
    if (wanted and wanted != "*" and wanted != etag) or (wanted and found is None):
        raise ArmError(412, "PreconditionFailed", f"The If-Match header '{wanted}' does not match '{etag}'.")
    if unwanted == "*" and found is not None:
        raise ArmError(412, "PreconditionFailed", f"The resource {found['id']} exists (If-None-Match: *).")


def nothing_in_progress(operations: list[Operation], cluster_id: str, pool_id: str | None = None) -> None:
    """Raise ArmError (409) when an operation is in the way.

    A cluster operation is in everybody's way, a pool operation in that of the cluster and the same pool.
    """
    for operation in operations:
        target = operation["target"]
        if target == cluster_id.lower() or target == (pool_id or "").lower():
            raise _busy(f"Another operation ({operation['state']})")
        if pool_id is None:
            name = target.rpartition("/")[2]
            raise _busy(f"Another agentpool operation ({name} - {operation['state']})")


def _busy(what: str) -> ArmError:
    return ArmError(
        409,
        "OperationNotAllowed",
        f"Operation is not allowed: {what} is in progress, please wait for it to finish before starting a new "
        f"operation. {_SEE}",
    )
