"""Bringing a stack whose `pulumi` was killed back to where the next one can start.

On a stack whose state lies in a twin this happens by itself; on any other the exact commands are shown, since
somebody else may be working on it.
"""

import os
from collections.abc import Callable

from aksgpu.errors import AksgpuError
from aksgpu.readers.azure import Azure
from aksgpu.readers.kube import Kube
from aksgpu.stack import leftovers, pending
from aksgpu.stack.engine import Stack

_API_VERSIONS = {
    "azure-native:resources:ResourceGroup": "2024-11-01",
    "azure-native:containerservice:ManagedCluster": "2025-09-01",
    "azure-native:containerservice:AgentPool": "2025-09-01",
}

Report = Callable[[str], None]


def recover(stack: Stack, project: str, azure: Azure, report: Report) -> None:
    """Make the stack ready for the next command; AksgpuError when that is for a person to decide."""
    _free(stack, project, report)
    _settle(stack, azure, report)


def _free(stack: Stack, project: str, report: Report) -> None:
    """Give back the lock of a dead `pulumi` and end the plugins it left."""
    held = leftovers.locks(project, stack.name)
    living = [lock for lock in held if not lock.dead]
    if living:
        raise AksgpuError(
            f"The stack '{stack.name}' is locked by process {living[0].pid} of {living[0].user} on {living[0].host}. "
            f"Wait until it has finished; if you are sure that it is gone: pulumi cancel --yes --stack {stack.name}"
        )
    if held and not _in_a_twin():
        raise AksgpuError(
            f"The stack '{stack.name}' is locked by a process that ended ({held[0].pid}). "
            f"Give the lock back: pulumi cancel --yes --stack {stack.name}"
        )
    if held:
        report(f"an earlier pulumi was killed: giving back its lock on the stack '{stack.name}'")
        stack.ask("cancel", "--yes")
    # Only a folder on this machine can have plugins that work on it from this machine alone.
    if _in_a_twin() and (ended := leftovers.end_orphans()):
        report(f"ended {ended} plugins that it left running")


def _settle(stack: Stack, azure: Azure, report: Report) -> None:
    """Take over what a killed `pulumi` had created without recording it."""
    deployment = stack.state()
    if not deployment.get("pending_operations"):
        return
    creates = pending.creates(deployment, azure.subscription)
    cluster = pending.cluster(deployment)
    kube = Kube(azure.kubeconfig_of(cluster)) if cluster is not None else None

    def exists(create: pending.PendingCreate) -> bool:
        if not create.in_kubernetes:
            version = create.inputs.get("apiVersion") or _API_VERSIONS[create.type]
            return azure.settled(create.id, str(version))
        if kube is None:
            return False
        metadata = create.inputs["metadata"]
        return kube.exists(
            create.inputs["apiVersion"], create.inputs["kind"], metadata.get("namespace", ""), metadata["name"]
        )

    arguments = pending.refresh_arguments(creates, exists)
    if not _in_a_twin():
        raise AksgpuError(
            "An earlier pulumi was killed while it was creating things. Take over what it finished, then run again: "
            f"pulumi {' '.join(arguments)} --stack {stack.name}"
        )
    report(f"settling {len(creates)} creations that were under way when the earlier pulumi was killed")
    stack.ask(*arguments)


def _in_a_twin() -> bool:
    return "AKSGPU_ARM_ENDPOINT" in os.environ and leftovers.backend_folder() is not None
