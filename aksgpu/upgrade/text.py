"""A plan as text for a terminal."""

from collections.abc import Iterator, Sequence

from aksgpu.upgrade import words
from aksgpu.upgrade.model import Plan, Step


def text(plan: Plan) -> str:
    """Return the plan, line by line."""
    return "\n".join([*_lines(plan), ""])


def _lines(plan: Plan) -> Iterator[str]:
    yield words.heading(plan)
    yield words.terms(plan)
    yield ""
    yield from _pools(plan)
    yield ""
    if plan.refusal:
        yield f"No way: {plan.refusal.reason}"
        yield f"Way out: {plan.refusal.way_out}"
    elif plan.steps:
        yield from _steps(plan.steps)
        yield f"In all: {words.total(plan)}."
    else:
        yield f"Nothing to do: the control plane and every pool are on {plan.target}."
    yield from _list("Warnings", plan.warnings)
    yield from _list("The estimate assumes", plan.assumptions)
    yield from _list("Commands", [step.command for step in plan.steps], bullet="")


def _pools(plan: Plan) -> Iterator[str]:
    rows = [("control plane", plan.control_plane, "")]
    rows += [(f"pool {pool.name}", pool.version, f"{pool.count} x {pool.vm_size}, {pool.mode}") for pool in plan.pools]
    width = max(len(name) for name, _, _ in rows)
    for name, version, size in rows:
        yield f"  {name:<{width}}  {version:<8}  {size}".rstrip()


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    width = max(len(words.moves(step)) for step in steps)
    for step in steps:
        if step.kind != "node-pool" and step.number > 1:
            yield ""
        more = f"  adds {words.added(step.extra)}" if step.extra else ""
        moved = f"{words.moves(step):<{width}}  {words.versions(step)}"
        yield f"{step.number:>3}. {moved}  {words.minutes(step.minutes)}{more}"
        yield from (f"       brings {news}" for news in step.brings)
    yield ""


def _list(title: str, lines: Sequence[str], bullet: str = "- ") -> Iterator[str]:
    if lines:
        yield ""
        yield f"{title}:"
        yield from (f"  {bullet}{line}" for line in lines)
