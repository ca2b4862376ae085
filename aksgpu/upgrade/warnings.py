"""What a person should know before an upgrade: ends of support, what acts by itself, states that are wrong."""

from collections.abc import Iterator
from datetime import date

from aksgpu.knowledge.kubernetes import Minor, release
from aksgpu.knowledge.upgrades import SUPPORT_ENDS_SOON
from aksgpu.upgrade import estimate
from aksgpu.upgrade.path import Operation
from aksgpu.upgrade.refusals import to_lts
from aksgpu.upgrade.target import LTS, Target
from aksgpu.upgrade.ways import Ways


def supported_until(line: Minor, support_plan: str) -> date | None:
    """Return the last day of support of a minor; None for one that isn't in the calendar."""
    known = release(line)
    if known is None:
        return None
    return known.lts_end_of_life if support_plan == LTS else known.end_of_life


def warnings(ways: Ways, target: Target, today: date, steps: list[Operation]) -> tuple[str, ...]:
    """Return the warnings of a plan, the most pressing first."""
    return (
        *_support(ways, target if steps else None, today),
        *_recovery(ways, steps),
        *_channel(ways),
        *_states(ways),
        *_gpu_pools(ways, steps),
        *_patch(ways, target),
    )


def _support(ways: Ways, target: Target | None, today: date) -> Iterator[str]:
    users: dict[Minor, list[str]] = {ways.now.line: ["the control plane"]}
    for name, version in ways.pools.items():
        users.setdefault(version.line, []).append(f"pool {name}")
    if target is not None:
        users.setdefault(target.line, []).append("the target")
    for line, names in sorted(users.items()):
        ends = supported_until(line, ways.cluster.support_plan)
        if ends is None:
            continue
        left, who = (ends - today).days, ", ".join(names)
        if left < 0:
            yield f"Kubernetes {line} ({who}) has been out of support since {ends}.{_rescue(ways, line, today)}"
        elif left <= SUPPORT_ENDS_SOON:
            yield f"Support for Kubernetes {line} ({who}) ends on {ends}, in {left} days.{_rescue(ways, line, today)}"


def _rescue(ways: Ways, line: Minor, today: date) -> str:
    """Say when long-term support would help."""
    longer = supported_until(line, LTS)
    if ways.cluster.support_plan == LTS or longer is None or longer < today or line != ways.now.line:
        return ""
    return f" With long-term support it is supported until {longer}: {to_lts(ways)}."


def _recovery(ways: Ways, steps: list[Operation]) -> Iterator[str]:
    for step in steps:
        if step.kind == "cluster" and ways.is_recovery(step.moves[0].before, step.moves[0].after):
            yield (
                f"From {step.moves[0].before}, which is out of support, to {step.moves[0].after} the cluster skips "
                "minors. AKS allows it for the whole cluster at once and promises nothing: read what was removed in "
                "the minors between, and try it on a copy of the cluster first."
            )


def _channel(ways: Ways) -> Iterator[str]:
    cluster = ways.cluster
    if ways.moves_as_one:
        yield (
            f"The auto-upgrade channel {cluster.channel} upgrades this cluster by itself, and with it AKS moves the "
            "control plane and the pools only together. To go pool by pool, turn it off first: `az aks update "
            f"--resource-group {cluster.resource_group} --name {cluster.name} --auto-upgrade-channel none`."
        )


def _states(ways: Ways) -> Iterator[str]:
    cluster = ways.cluster
    named = [("The cluster", cluster.provisioning_state)]
    named += [(f"Pool {pool.name}", pool.provisioning_state) for pool in cluster.pools]
    for what, state in named:
        if state in {"Failed", "Canceled"}:
            yield f"{what} is in the state {state}: the next request to Azure takes up what was left undone."
        elif state != "Succeeded":
            yield f"{what} is in the state {state}: wait until Azure has finished."


def _gpu_pools(ways: Ways, steps: list[Operation]) -> Iterator[str]:
    moving = {move.pool for step in steps for move in step.moves}
    pools = [pool for pool in ways.cluster.pools if pool.name in moving and estimate.has_gpus(pool)]
    if pools:
        names = ", ".join(pool.name for pool in pools)
        yield f"New nodes have the newest node image, which may bring another GPU driver to {names}."
    for pool in pools:
        needed = estimate.surge(pool)
        if needed:
            advice = "" if pool.mode == "System" else " Without, set maxSurge 0 and maxUnavailable 1."
            yield (
                f"Pool {pool.name} adds {needed.nodes} x {pool.vm_size} while it is upgraded: quota and capacity for "
                f"GPUs must be there.{advice}"
            )


def _patch(ways: Ways, target: Target) -> Iterator[str]:
    newer = [found for found in ways.control_plane(ways.now) if found.line == ways.now.line]
    if newer and target.line == ways.now.line and target.patch is None:
        yield f"{ways.now} is {target} already; the newer patch {newer[-1]} is there for who asks: --to {newer[-1]}."
