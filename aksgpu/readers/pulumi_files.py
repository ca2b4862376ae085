"""Reads what `pulumi stack export` and `pulumi preview --json` print."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterChange, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolChange
from aksgpu.readers.linking import link
from aksgpu.readers.plain import plain
from aksgpu.readers.pulumi_resources import PulumiResource, provider_cluster, reader_for
from aksgpu.readers.pulumi_resources import read as read_resource
from aksgpu.readers.reading import Reading, Unreadable
from aksgpu.readers.stack_components import changed

_GONE = ("delete", "delete-replaced", "discard", "discard-replaced", "read-discard", "remove-pending-replace")
"""Steps after which nothing is left."""
_EXPORT_AGAIN = "Write the file anew with `pulumi stack export --file FILE` or `pulumi preview --json > FILE`."


@dataclass(frozen=True)
class _State:
    """A resource of a state, or one side of a step."""

    urn: str
    type: str
    data: Mapping[str, object]
    path: str

    def props(self) -> object:
        """Return what was asked for; what is there when that was not written down."""
        inputs = self.data.get("inputs")
        props = plain(inputs or self.data.get("outputs") or {})
        resource_id = self.data.get("id")
        # Kubernetes ids are no ARM ids; the program's own key wins.
        if isinstance(props, Mapping) and isinstance(resource_id, str) and resource_id.startswith("/subscriptions/"):
            return {"id": resource_id, **props}
        return props

    def dependencies(self) -> Iterator[str]:
        """Yield the URNs that it depends on."""
        yield from _texts(self.data.get("dependencies"))
        groups = self.data.get("propertyDependencies")
        for group in groups.values() if isinstance(groups, Mapping) else ():
            yield from _texts(group)


def recognises(data: object) -> bool:
    """Tell whether a document is a state, a preview, or one event of a preview that is printed as it goes."""
    if not isinstance(data, Mapping):
        return False
    return _is_state(data) or _is_preview(data) or _is_event(data)


def read(data: object, file: str) -> Reading:
    """Return the facts of a state, or those that a preview would leave, and what it would change in place."""
    if not isinstance(data, Mapping):
        return _unreadable(file, "This is no state and no preview.")
    if _is_event(data):
        event = data.get("resourcePreEvent")
        step = event.get("metadata") if isinstance(event, Mapping) else None
        return _preview([_step_of_event(step)], file) if isinstance(step, Mapping) else Reading()
    if _is_state(data):
        return _state(data["deployment"], file)
    return _preview(data.get("steps"), file)


def _is_state(data: Mapping[str, object]) -> bool:
    return "deployment" in data and "version" in data


def _is_preview(data: Mapping[str, object]) -> bool:
    return "steps" in data and ("changeSummary" in data or "config" in data or "diagnostics" in data)


def _is_event(data: Mapping[str, object]) -> bool:
    return "sequence" in data and "timestamp" in data and any(str(key).endswith("Event") for key in data)


def _step_of_event(metadata: Mapping[str, object]) -> Mapping[str, object]:
    return {**metadata, "oldState": metadata.get("old"), "newState": metadata.get("new")}


def _state(deployment: object, file: str) -> Reading:
    resources = deployment.get("resources") if isinstance(deployment, Mapping) else None
    if resources is None and isinstance(deployment, Mapping):
        resources = []  # a stack that was never deployed
    if not isinstance(resources, list):
        return _unreadable(file, "This state has no list of resources.")
    found, bad = [], 0
    for index, data in enumerate(resources):
        state = _resource(data, f"deployment.resources[{index}]")
        if state is None:
            bad += 1
        elif state.data.get("delete") is not True:  # it is deleted by the next update
            found.append(state)
    return Reading(_facts(found, found, file), _strange(file, bad, "resources"))


def _preview(steps: object, file: str) -> Reading:
    if steps is None:
        steps = []  # nothing to show: no step but same ones
    if not isinstance(steps, list):
        return _unreadable(file, "The steps of this preview are no list.")
    before, after, bad = {}, {}, 0
    for index, step in enumerate(steps):
        if not isinstance(step, Mapping):
            bad += 1
            continue
        op, path = step.get("op"), f"steps[{index}]"
        new = _resource(step.get("newState"), f"{path}.newState", step)
        if op in _GONE:
            continue
        if new is None:
            bad += op != "replace"  # what is created instead has a step of its own
            continue
        after[new.urn] = new
        old = _resource(step.get("oldState"), f"{path}.oldState", step)
        if op == "update" and old is not None:
            before[new.urn] = old
    states = list(after.values())
    estate = _facts(states, states, file)
    updated = [state for state in states if state.urn in before]
    pairs = zip(
        (_facts([before[state.urn]], states, file) for state in updated),
        (_facts([state], states, file) for state in updated),
        strict=True,
    )
    return Reading(Estate.merge((estate, *(_changes(old, new) for old, new in pairs))), _strange(file, bad, "steps"))


def _changes(old: Estate, new: Estate) -> Estate:
    """Pair what a resource held before with what it will hold: pools inside a cluster by their names."""
    names = {pool.name: pool for pool in old.pools if isinstance(pool.name, str)}
    single = len(old.pools) == len(new.pools) == 1
    pools = []
    for pool in new.pools:
        was = old.pools[0] if single else names.get(pool.name) if isinstance(pool.name, str) else None
        if was is not None:
            pools.append(PoolChange(before=was, after=pool))
    clusters = (
        ClusterChange(before=was, after=now)
        for was, now in zip_longest(old.clusters, new.clusters)
        if was is not None and now is not None
    )
    return Estate(changes=tuple(pools), cluster_changes=tuple(clusters), stack_changes=changed(old, new))


def _resource(data: object, path: str, step: Mapping[str, object] | None = None) -> _State | None:
    if not isinstance(data, Mapping):
        return None
    merged = {**{key: step[key] for key in ("urn", "provider") if step and key in step}, **data}
    urn, type_ = merged.get("urn"), merged.get("type")
    if not (isinstance(urn, str) and isinstance(type_, str)):
        return None
    return _State(urn, type_, merged, path)


def _facts(states: list[_State], all_states: list[_State], file: str) -> Estate:
    providers = {state.urn: _cluster_of(state) for state in all_states if state.type == "pulumi:providers:kubernetes"}
    estates = {
        id(state): _placed(_read(state, providers), file, state.path)
        for state in states
        if reader_for(state.type) is not None
    }
    clusters = {state.urn for state in all_states if _is_cluster(state)}
    return Estate.merge(
        link(estates[id(state)], state.dependencies(), clusters) for state in states if id(state) in estates
    )


def _is_cluster(state: _State) -> bool:
    may_be = not state.type.startswith("kubernetes:") and reader_for(state.type) is not None
    return may_be and bool(_read(state, {}).clusters)


def _read(state: _State, providers: Mapping[str, ClusterRef]) -> Estate:
    provider, parent = state.data.get("provider"), state.data.get("parent")
    owner = provider.rpartition("::")[0] if isinstance(provider, str) else ""
    return read_resource(
        PulumiResource(
            type=state.type,
            urn=state.urn,
            props=state.props(),
            parent=parent if isinstance(parent, str) else None,
            cluster=providers.get(owner, ANY_CLUSTER),
        )
    )


def _cluster_of(provider: _State) -> ClusterRef:
    props = provider.props()
    return provider_cluster(props.get("clusterIdentifier") if isinstance(props, Mapping) else None)


def _placed(estate: Estate, file: str, path: str) -> Estate:
    """Say in which file the facts are, and at which resource of it."""
    placed: dict[str, tuple[Any, ...]] = {}
    for name in Estate.model_fields:
        facts = getattr(estate, name)
        if isinstance(facts, tuple):
            placed[name] = tuple(item.model_copy(update={"place": _in(item.place, file, path)}) for item in facts)
    placed["stacks"] = tuple(
        stack.each(lambda item: item.model_copy(update={"place": _in(item.place, file, path)}))
        for stack in placed["stacks"]
    )
    return estate.model_copy(update=placed)


def _in(place: Place, file: str, path: str) -> Place:
    inside = f"{path}.inputs.{place.path}" if place.path else path
    return place.model_copy(update={"file": file, "path": inside})


def _texts(value: object) -> Iterator[str]:
    yield from (item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _strange(file: str, count: int, what: str) -> tuple[Unreadable, ...]:
    if not count:
        return ()
    return (Unreadable(file, None, f"{count} {what} have no readable type, URN or state. {_EXPORT_AGAIN}"),)


def _unreadable(file: str, message: str) -> Reading:
    return Reading(unreadable=(Unreadable(file, None, f"{message} {_EXPORT_AGAIN}"),))
