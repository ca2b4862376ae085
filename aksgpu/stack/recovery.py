"""Bringing a stack whose `pulumi` was killed back to where the next one can start.

On a stack whose state lies in a twin this happens by itself; on any other the exact command is shown, since
somebody else may be working on it.
"""

import os
from collections.abc import Callable

from aksgpu.errors import AksgpuError
from aksgpu.readers.azure import Azure
from aksgpu.stack import leftovers, pending
from aksgpu.stack.engine import Stack

Report = Callable[[str], None]


def recover(stack: Stack, project: str, azure: Azure, report: Report, *, allowed: bool) -> None:
    """Make the stack ready for the next command.

    What a killed `pulumi` left is dealt with when `allowed`, or when the state lies in a twin, where nobody else
    works; otherwise AksgpuError says what there is and how to allow it.
    """
    allowed = allowed or in_a_twin()
    _free(stack, project, report, allowed=allowed)
    _settle(stack, azure, report, allowed=allowed)


def _free(stack: Stack, project: str, report: Report, *, allowed: bool) -> None:
    """Give back the lock of a dead `pulumi` and end the plugins it left."""
    held = leftovers.locks(project, stack.name)
    living = [lock for lock in held if not lock.dead]
    if living:
        raise AksgpuError(
            f"The stack '{stack.name}' is locked by process {living[0].pid} of {living[0].user} on {living[0].host}. "
            f"Wait until it has finished; if you are sure that it is gone: pulumi cancel --yes --stack {stack.name}"
        )
    if held and not allowed:
        raise AksgpuError(f"The stack '{stack.name}' is locked by a process that ended ({held[0].pid}). {_how(stack)}")
    if held:
        report(f"an earlier pulumi was killed: giving back its lock on the stack '{stack.name}'")
        stack.ask("cancel", "--yes")
    if allowed and (ended := leftovers.end_orphans()):
        report(f"ended {ended} plugins that it left running")


def _settle(stack: Stack, azure: Azure, report: Report, *, allowed: bool) -> None:
    """Take over what a killed `pulumi` had created without recording it, and end what it was deleting."""
    exported = stack.export()
    deployment = exported["deployment"] or {}
    if not deployment.get("pending_operations"):
        return
    if not allowed:
        raise AksgpuError(f"An earlier pulumi was killed while it was changing things. {_how(stack)}")
    creates = pending.creates(deployment, azure.subscription)
    taken = [create for create in creates if azure.settled(create.id, create.api_version)]
    report(f"an earlier pulumi was killed: taking over {len(taken)} Azure resources that it had just created")
    stack.replace_state(pending.settle(exported, taken))
    looked_at = [create.urn for create in taken] + pending.urns(deployment, "updating")
    if looked_at:
        stack.ask("refresh", "--yes", "--skip-preview", *_targets(looked_at))
    if going := pending.urns(deployment, "deleting"):
        # Half a deletion is neither there nor gone: a namespace that is still ending takes no new objects.
        report(f"finishing {len(going)} deletions that it had begun")
        stack.ask("destroy", "--yes", "--skip-preview", "--target-dependents", *_targets(going))


def _targets(urns: list[str]) -> list[str]:
    return [part for urn in urns for part in ("--target", urn)]


def _how(stack: Stack) -> str:
    return (
        "If nobody else is working on this stack, give the lock back and take over what was finished: "
        f"aksgpu up --stack {stack.name} --recover"
    )


def in_a_twin() -> bool:
    """Tell whether both Azure and the state are those of a twin on this machine."""
    return "AKSGPU_ARM_ENDPOINT" in os.environ and leftovers.backend_folder() is not None
