"""Why there is no plan, and what can be done about it."""

from aksgpu.upgrade.model import Refusal
from aksgpu.upgrade.path import StuckError, control_plane_path
from aksgpu.upgrade.target import LTS, Target
from aksgpu.upgrade.versions import parse
from aksgpu.upgrade.ways import Ways


def unreachable(ways: Ways, target: Target) -> Refusal | None:
    """Say why the target can't be had whatever the way there; None when it may be."""
    if target.is_past(ways.now):
        return Refusal(
            reason=f"The control plane is on {ways.now}. AKS never takes a cluster back to {target}.",
            way_out=f"Plan to {ways.now.line} or later; for an older version create another cluster.",
        )
    ahead = sorted(name for name, version in ways.pools.items() if target.is_past(version))
    if ahead:
        return Refusal(
            reason=f"The pool {ahead[0]} is on {ways.pools[ahead[0]]}. AKS never takes a pool back to {target}.",
            way_out=f"Plan to {ways.pools[ahead[0]]} or later; for an older version create another pool.",
        )
    if any(target.is_met(version) for version in (ways.now, *ways.offered)):
        return None
    return _not_offered(ways, target)


def _not_offered(ways: Ways, target: Target) -> Refusal:
    place, plan = ways.cluster.location, ways.cluster.support_plan
    found = [entry for entry in ways.cluster.offered if target.is_met(parse(entry.version))]
    if any(plan in entry.support_plans for entry in found):
        return _is_preview(ways, target)
    if any(LTS in entry.support_plans for entry in found):
        return Refusal(
            reason=f"In {place}, {target} needs long-term support, and this cluster has the plan {plan}.",
            way_out=f"Choose one of {_choice(ways)}, or move the cluster to long-term support: {to_lts(ways)}.",
        )
    return Refusal(reason=f"AKS does not offer {target} in {place}.", way_out=f"Choose one of {_choice(ways)}.")


def _is_preview(ways: Ways, version: object) -> Refusal:
    return Refusal(
        reason=f"{version} is a preview version in {ways.cluster.location}, and previews are not for production.",
        way_out="Wait for its release, or add --preview if the cluster is one for tests.",
    )


def to_lts(ways: Ways) -> str:
    """Return the command that moves the cluster to long-term support."""
    cluster = ways.cluster
    return (
        f"`az aks update --resource-group {cluster.resource_group} --name {cluster.name} --tier premium "
        f"--k8s-support-plan {LTS}`"
    )


def _choice(ways: Ways) -> str:
    versions = [str(version) for version in ways.offered if version >= ways.now]
    return ", ".join(versions) if versions else "the versions that `az aks get-versions` lists"


def no_way(ways: Ways, goal: Target) -> Refusal:
    """Say why the control plane gets nowhere near a target that AKS does offer."""
    reason = f"AKS offers the control plane no way from {ways.now} to {goal}."
    if control_plane_path(Ways(ways.cluster, preview=True), goal.is_met):
        return Refusal(
            reason=f"The way from {ways.now} to {goal} leads over a preview version.",
            way_out="Wait for its release, or add --preview if the cluster is one for tests.",
        )
    now = ", ".join(str(version) for version in ways.control_plane(ways.now))
    if now:
        return Refusal(reason=reason, way_out=f"From {ways.now} Azure accepts {now}.")
    state = ways.cluster.provisioning_state
    return Refusal(
        reason=reason,
        way_out=f"Azure lists no upgrade of this cluster at all, and its state is {state}. Look at it with `az aks "
        f"get-upgrades --resource-group {ways.cluster.resource_group} --name {ways.cluster.name}`; if that shows none "
        "either, create a cluster on a newer version and move the workloads.",
    )


def left_behind(ways: Ways, stuck: StuckError) -> Refusal:
    """Say why a pool can't come along."""
    if not ways.may_use(stuck.wanted):
        return _is_preview(ways, stuck.wanted)
    between = {parse(entry.version) for entry in ways.cluster.offered if LTS in entry.support_plans}
    helped = ways.cluster.support_plan != LTS and any(
        version.line > stuck.version.line and version.minor == stuck.version.minor + 1 and version < stuck.wanted
        for version in between - set(ways.supported)
    )
    lts = f" Or move the cluster to long-term support, which has the minor between: {to_lts(ways)}."
    return Refusal(
        reason=f"The pool {stuck.pool} can't leave {stuck.version}: a pool moves one minor at a time, and below the "
        f"control plane {stuck.control_plane} AKS offers it no version on the way to {stuck.wanted}.",
        way_out=f"Create another pool on {stuck.control_plane}, move the workloads to it and delete {stuck.pool}."
        + (lts if helped else ""),
    )
