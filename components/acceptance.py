"""Reads a node pool back and compares what Azure accepted with what was asked for.

This happens on every preview and update, once the pool's id is known. A check in a hook after creation would fail
once, and the next run, which has nothing to create, would be green. See docs/decisions/0011-read-back.md.
"""

from collections.abc import Mapping

import pulumi

from aksgpu.readers.azure import LivePool, PoolAddress
from components import live


async def read_back(
    component: pulumi.Resource, name: str, asked: Mapping[str, str | None], resource_id: str
) -> dict[str, str]:
    """Return what Azure accepted; refuse the run, each time, when it is not what was asked for."""
    address = PoolAddress.parse(resource_id)
    pool = await live.ask(live.azure(address.subscription).pool, address.resource_group, address.cluster, address.pool)
    preview = pulumi.runtime.is_dry_run()
    if pool is None and preview:
        pulumi.log.warn(
            f"Pool {name} is in the stack's state, and Azure does not have it ({resource_id}). Run `pulumi refresh`: "
            "then the next update creates it anew.",
            component,
        )
        return {}
    if pool is None:
        raise live.RefusedError(
            f"Pool {name} is in the stack's state, and Azure does not have it ({resource_id}). Run `pulumi refresh`, "
            "then update again: that creates it anew."
        )
    differences = compare(pool, asked)
    if pool.provisioning_state != "Succeeded":
        state = f"provisioningState: asked for Succeeded, Azure says {pool.provisioning_state}"
        if preview and not differences:
            # A pool that failed or is still at work may be what the coming update mends.
            pulumi.log.warn(f"Pool {name}: {state}.", component)
        else:
            differences.append(state)
    if differences:
        raise live.RefusedError(
            f"Pool {name} is not what was asked for. {'; '.join(differences)}. What Azure fixes at creation can only "
            "be changed by making the pool again: give it another name, or taint it and update, with "
            "`pulumi state taint 'URN'` and `pulumi up` (`pulumi stack --show-urns` shows the URN; keep the quotes, as "
            f"it has a $). Pool: {pool.id}"
        )
    return {key: value for key, value in pool.accepted().items() if value is not None}


def compare(pool: LivePool, asked: Mapping[str, str | None]) -> list[str]:
    """Return the differences, each naming both values; what was not asked for may be anything."""
    accepted = pool.accepted()
    # A pool that AKS doesn't manage may not have the property at all.
    accepted["managementMode"] = accepted["managementMode"] or "Unmanaged"
    return [
        f"{key}: asked for {wanted}, Azure accepted {accepted[key] or 'nothing'}"
        for key, wanted in asked.items()
        if wanted is not None and wanted.casefold() != (accepted[key] or "").casefold()
    ]
