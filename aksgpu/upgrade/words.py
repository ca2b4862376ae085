"""How a plan puts its parts in words, the same in text and on the page."""

from aksgpu.upgrade.model import CONTROL_PLANE, Duration, Extra, Move, Plan, Step


def heading(plan: Plan) -> str:
    """Return who goes where."""
    return (
        f"Cluster {plan.cluster} ({plan.resource_group}, {plan.location}): from Kubernetes {plan.control_plane} to "
        f"{plan.target}"
    )


def terms(plan: Plan) -> str:
    """Return what decides beside the versions."""
    until = f"; {plan.target} is supported until {plan.supported_until}" if plan.supported_until else ""
    return f"Support plan {plan.support_plan}, auto-upgrade channel {plan.channel}{until}"


def total(plan: Plan) -> str:
    """Return the sum of a plan with steps."""
    count = len(plan.steps)
    steps = "1 step" if count == 1 else f"{count} steps"
    most: dict[str, Extra] = {}
    for needed in (needed for step in plan.steps for needed in step.extra):
        if needed.vm_size not in most or needed.nodes > most[needed.vm_size].nodes:
            most[needed.vm_size] = needed
    meanwhile = f"extra nodes at a time: {added(tuple(most.values()))}" if most else "no extra nodes"
    return f"{steps}, {minutes(plan.minutes)}; {meanwhile}"


def moves(step: Step) -> str:
    """Return what moves in a step, as `pool sys` or `control plane and pools sys, gpunp`."""
    pools = [move.what for move in step.moves if move.what != CONTROL_PLANE]
    named = f"{'pool' if len(pools) == 1 else 'pools'} {', '.join(pools)}" if pools else ""
    return {"control-plane": CONTROL_PLANE, "node-pool": named, "cluster": f"{CONTROL_PLANE} and {named}"}[step.kind]


def versions(step: Step) -> str:
    """Return from where to where, as `1.34.5 -> 1.35.4`."""
    return f"{_before(step.moves)} -> {step.moves[0].after}"


def _before(moved: tuple[Move, ...]) -> str:
    return ", ".join(dict.fromkeys(move.before for move in moved))


def minutes(duration: Duration) -> str:
    """Return `10 to 45 min`, `50 min to 3 h 20 min`."""
    if duration.high < 60:
        return f"{duration.low} to {duration.high} min"
    return f"{_clock(duration.low)} to {_clock(duration.high)}"


def _clock(total_minutes: int) -> str:
    hours, rest = divmod(total_minutes, 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{rest} min"] if rest or not hours else [])])


def added(needed: tuple[Extra, ...]) -> str:
    """Return the surge nodes of a step, with the cores they take from the quota."""
    return ", ".join(f"{one.nodes} x {one.vm_size}{_cores(one)}" for one in needed)


def _cores(needed: Extra) -> str:
    if needed.cores is None:
        return ""
    return f" ({needed.cores} vCPUs{f' of {needed.family}' if needed.family else ''})"
