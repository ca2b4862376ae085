"""Whether software and workloads would land on the nodes of a pool.

Isolation counts only when it is made with labels and taints that the pool itself declares. A label that other
software puts on nodes while they run (node feature discovery, the kubelet) may have any value, so a selection by
one may always match.
"""

from typing import Protocol

from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Requirement, Selection, Taint, Toleration
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, any_of, equals
from aksgpu.knowledge.node_labels import SET_ELSEWHERE, labels_of, taints_of


class Placed(Protocol):
    """What the scheduler places: the pods of a GPU component or of a workload."""

    @property
    def cluster(self) -> ClusterRef:
        """The cluster it goes to."""
        ...

    @property
    def selection(self) -> Maybe[Selection]:
        """The nodes it selects."""
        ...

    @property
    def tolerations(self) -> Maybe[tuple[Toleration, ...]]:
        """The taints it tolerates."""
        ...


def lands_on(component: Placed, pool: PoolFacts, estate: Estate) -> Truth:
    """Tell whether a component would run on the nodes of `pool`."""
    together = same_cluster(component.cluster, pool.cluster, estate)
    if together is False:
        return False  # In a stack of many clusters nearly all pairs end here.
    return all_of(
        together,
        _selects(component.selection, pool),
        _tolerates(component.tolerations, taints_of(pool)),
    )


def explain(component: Placed, pool: PoolFacts) -> str:
    """Say in a clause why a component lands on a pool."""
    return f"{_explain_selection(component.selection, pool)} and {_explain_taints(pool)}"


def obstacles(component: Placed, pool: PoolFacts) -> list[str]:
    """Say what keeps something off a pool, as far as that is certain."""
    found = []
    if _selects(component.selection, pool) is False:
        found.append(f"its node selection ({', '.join(_keys(component.selection))}) doesn't match the pool's nodes")
    taints = taints_of(pool)
    if _tolerates(component.tolerations, taints) is False and isinstance(taints, tuple):
        kept = [str(taint) for taint in taints if _tolerates(component.tolerations, (taint,)) is False]
        found.append(f"it doesn't tolerate the taint {', '.join(kept)}")
    return found


def _keys(selection: Maybe[Selection]) -> list[str]:
    if not isinstance(selection, Selection):
        return []
    return sorted({*selection.labels, *(requirement.key for term in selection.terms for requirement in term)})


def _explain_selection(selection: Maybe[Selection], pool: PoolFacts) -> str:
    if not isinstance(selection, Selection) or not (selection.labels or selection.terms):
        return "it has no node selector"
    keys = _keys(selection)
    own = [f"{key}={value}" for key, value in sorted(labels_of(pool).items()) if key in keys]
    if own:
        return f"its node selection matches the pool's labels {', '.join(own)}"
    return f"its node selection ({', '.join(keys)}) doesn't exclude the pool"


def _explain_taints(pool: PoolFacts) -> str:
    taints = taints_of(pool)
    if not isinstance(taints, tuple) or not taints:
        return "the pool has no taints"
    return f"it tolerates the pool's taints {', '.join(str(taint) for taint in taints)}"


def same_cluster(ours: ClusterRef, theirs: ClusterRef, estate: Estate) -> Truth:
    """Tell whether two references mean one cluster.

    A component that doesn't say where it goes is taken to go to the pool's cluster: that is so in nearly every
    program, and the other guess would let real collisions pass.
    """
    if ours.object is not None and theirs.object is not None:
        return ours.object == theirs.object
    if isinstance(ours.name, str) and isinstance(theirs.name, str):
        return equals(ours.name, theirs.name) is True and _same_group(ours.resource_group, theirs.resource_group)
    meant = [cluster for cluster, truth in estate.clusters_of(theirs) if truth is True]
    if isinstance(ours.name, str) and meant:
        return any_of(*(cluster.is_meant_by(ours) for cluster in meant))
    return UNKNOWN if isinstance(ours.name, str) and isinstance(theirs.name, Unknown) else True


def _same_group(ours: Maybe[str], theirs: Maybe[str]) -> bool:
    return not (isinstance(ours, str) and isinstance(theirs, str)) or ours.casefold() == theirs.casefold()


def _selects(selection: Maybe[Selection], pool: PoolFacts) -> Truth:
    if isinstance(selection, Unknown):
        return UNKNOWN
    if selection is None:
        return True
    labels = all_of(
        *(_meets(Requirement(key=key, operator="In", values=(value,)), pool) for key, value in selection.labels.items())
    )
    if not selection.terms:
        return labels
    # A term without expressions matches no node at all.
    terms = (
        all_of(*(_meets(requirement, pool) for requirement in term)) if term else False for term in selection.terms
    )
    return all_of(labels, any_of(*terms))


def _meets(requirement: Requirement, pool: PoolFacts) -> Truth:
    labels = labels_of(pool)
    value = labels.get(requirement.key)
    if value is None:
        if requirement.key.startswith(SET_ELSEWHERE):
            return True
        if isinstance(pool.labels, Unknown):
            return UNKNOWN
    return _evaluate(requirement, value)


def _evaluate(requirement: Requirement, value: str | None) -> bool:
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compare(requirement, value)


def _compare(requirement: Requirement, value: str | None) -> bool:
    """Compare as integers; the scheduler matches nothing when either side isn't one."""
    try:
        label, limit = int(value or ""), int(requirement.values[0])
    except (ValueError, IndexError):
        return False
    return label > limit if requirement.operator == "Gt" else label < limit


def _tolerates(tolerations: Maybe[tuple[Toleration, ...]], taints: Maybe[tuple[Taint, ...]]) -> Truth:
    """Tell whether all taints that keep pods away are tolerated."""
    if isinstance(taints, Unknown):
        # A toleration of everything settles it; otherwise the taints decide.
        everything = isinstance(tolerations, tuple) and any(not item.key and not item.effect for item in tolerations)
        return True if everything else UNKNOWN
    hard = [taint for taint in taints or () if taint.effect != "PreferNoSchedule"]
    if not hard:
        return True
    if isinstance(tolerations, Unknown):
        return UNKNOWN
    return all(any(item.tolerates(taint) for item in tolerations or ()) for taint in hard)
