"""AKSGPU106 and 107: from which version to which an upgrade may go."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import Maybe, Truth, Unknown, all_of, any_of, equals, not_
from aksgpu.knowledge.kubernetes import is_older, parse_minor
from aksgpu.rules.model import Rule, Verdict

_ON_UNKNOWN = "A version that isn't known on either side is not judged; AKS itself refuses it then."
_SOURCE = "Microsoft Learn: Upgrade an AKS cluster; Kubernetes version skew policy"


class _Step(NamedTuple):
    what: str
    place: Place
    before: str
    after: str
    long_term: Truth
    """Whether the cluster is under long-term support on both sides."""
    pool: bool

    @property
    def minors(self) -> int:
        """How many minors it goes up; negative when it goes down."""
        before, after = parse_minor(self.before), parse_minor(self.after)
        return after.minor - before.minor if before and after and before.major == after.major else 0


def _steps(estate: Estate) -> Iterator[_Step]:
    for change in estate.cluster_changes:
        before, after = change.before, change.after
        long_term = all_of(_long_term(before.support_plan), _long_term(after.support_plan))
        yield from _step(after.label, after.place, (before.kubernetes_version, after.kubernetes_version), long_term)
    for change in estate.changes:
        versions = change.before.kubernetes_version, change.after.kubernetes_version
        plans = [
            all_of(meant, _long_term(cluster.support_plan))
            for cluster, meant in estate.clusters_of(change.after.cluster)
        ]
        what = f"pool {change.after.label}"
        yield from _step(what, change.after.place, versions, any_of(*plans), pool=True)


def _long_term(plan: Maybe[str]) -> Truth:
    return equals(plan, "AKSLongTermSupport")


def _step(
    what: str, place: Place, versions: tuple[Maybe[str], Maybe[str]], long_term: Truth, *, pool: bool = False
) -> Iterator[_Step]:
    before, after = versions
    if isinstance(before, str) and isinstance(after, str):
        yield _Step(what, place, before, after, long_term, pool)


def _skips(step: _Step) -> Truth:
    return all_of(step.minors > 1, not_(step.long_term))


def _goes_back(step: _Step) -> Truth:
    # AKS can roll a pool back by one minor for a few days, so for a pool only more than that is surely refused.
    return step.minors < -1 if step.pool else is_older(step.after, than=step.before)


def _check(broken: Callable[[_Step], Truth], message: str) -> Callable[[Estate], Iterator[Verdict]]:
    def check(estate: Estate) -> Iterator[Verdict]:
        for step in _steps(estate):
            truth = broken(step)
            text = f"{step.what[0].upper()}{step.what[1:]} would go from Kubernetes {step.before} to {step.after}"
            if truth is True:
                yield Verdict(f"{text}{message}.", step.place)
            elif isinstance(truth, Unknown):
                waits = "whether AKS allows it depends on the cluster's support plan, which isn't known yet"
                yield Verdict(f"{text}; {waits}.", step.place, undecided=True)

    return check


VERSION_HOP_SKIPPED = Rule(
    id="AKSGPU106",
    name="version-hop-skipped",
    severity="error",
    summary="An upgrade goes up one minor version at a time.",
    why=(
        "AKS answers OperationNotAllowed to an upgrade that leaves out a minor. Only clusters under long-term support "
        "may go from one such version to a later one."
    ),
    fix="Plan the steps with `aksgpu upgrade plan` and make them one after the other, the control plane first.",
    source=_SOURCE,
    on_unknown=_ON_UNKNOWN,
    check=_check(_skips, ", which leaves out a minor version"),
    pillars=("Operational Excellence", "Reliability"),
    prevents=("files",),
    detects=(),
)

VERSION_DOWNGRADE = Rule(
    id="AKSGPU107",
    name="version-downgrade",
    severity="error",
    summary="A Kubernetes version never goes down.",
    why=(
        "AKS refuses to downgrade a control plane, and a pool by more than the one minor that a rollback of the last "
        "days allows."
    ),
    fix=(
        "Keep the version that is running, or later. To go back, create a cluster (or a pool) of the older version and "
        "move the workloads; `aksgpu upgrade plan` says what is possible."
    ),
    source=_SOURCE,
    on_unknown=_ON_UNKNOWN,
    check=_check(_goes_back, ", which is older"),
    pillars=("Operational Excellence", "Reliability"),
    prevents=("files",),
    detects=(),
)

RULES = (VERSION_HOP_SKIPPED, VERSION_DOWNGRADE)
