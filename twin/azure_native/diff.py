"""Differences between properties: what a plan shows, and what a refresh brings into the inputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from twin.azure_native.catalog import CREATE_BEFORE_DELETE, Resource
from twin.azure_native.values import Value, Values

_MISSING: Value = object()


@dataclass(frozen=True)
class Change:
    """A difference at one leaf."""

    path: str
    """As the engine writes it: `properties.gpuProfile.nvidia.driverMode`, `nodeTaints[0]`."""
    kind: Literal["add", "delete", "update"]
    replaces: bool


@dataclass(frozen=True)
class Plan:
    """What a difference between old and new inputs means."""

    changes: tuple[Change, ...]
    delete_first: bool
    """Whether a replacement deletes the old resource before it creates the new one."""


def plan(resource: Resource, old_inputs: Values, new_inputs: Values, old_outputs: Values) -> Plan:
    """Compare inputs as the real provider does."""
    if "azureApiVersion" in old_outputs and "azureApiVersion" in new_inputs:
        # Check adds it to every input, but an import takes inputs from Azure, which doesn't have it.
        old_inputs = {"azureApiVersion": old_outputs["azureApiVersion"]} | old_inputs
    replaced_by = {*resource.parameters, *resource.replaced_by}
    changes = tuple(
        _soften(change, old_inputs, new_inputs, old_outputs)
        for change in _changes(_visible(old_inputs), _visible(new_inputs), replaced_by)
    )
    made_up = old_inputs.get(CREATE_BEFORE_DELETE)
    delete_first = not made_up if isinstance(made_up, bool) else any(change.replaces for change in changes)
    return Plan(changes, delete_first)


def _visible(inputs: Values) -> Values:
    return {name: value for name, value in inputs.items() if not name.startswith("__")}


def _soften(change: Change, old_inputs: Values, new_inputs: Values, old_outputs: Values) -> Change:
    """A newly given value that Azure had chosen anyway is no reason to replace."""
    key = change.path
    if (
        change.kind == "add"
        and change.replaces
        and key not in old_inputs
        and key in new_inputs
        and old_outputs.get(key, _MISSING) == new_inputs[key]
    ):
        return Change(key, "add", replaces=False)
    return change


def _changes(old: Values, new: Values, replaced_by: set[str]) -> Iterator[Change]:
    for name in sorted({*old, *new}):
        before, after = old.get(name, _MISSING), new.get(name, _MISSING)
        if name == "location" and _same_location(before, after):
            continue
        yield from _value(before, after, name, name, _Rules(replaced_by))


def _same_location(before: Value, after: Value) -> bool:
    """`East US` and `eastus` are one place."""
    both = isinstance(before, str) and isinstance(after, str)
    return both and before.replace(" ", "").lower() == after.replace(" ", "").lower()


@dataclass(frozen=True)
class _Rules:
    replaced_by: set[str]

    def replaces(self, rule_path: str) -> bool:
        """Whether a change at the path, or anywhere below a path that replaces, replaces the resource."""
        parts = rule_path.split(".")
        return any(".".join(parts[:length]) in self.replaced_by for length in range(1, len(parts) + 1))


def _value(before: Value, after: Value, path: str, rule_path: str, rules: _Rules) -> Iterator[Change]:
    """Yield the leaves that differ; `rule_path` is `path` without the indexes of lists."""
    if before == after and type(before) is type(after):
        return
    if before is _MISSING or after is _MISSING:
        kind = "add" if before is _MISSING else "delete"
        yield Change(path, kind, rules.replaces(rule_path))
    elif isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            inner = _step(path, name)
            yield from _value(
                before.get(name, _MISSING), after.get(name, _MISSING), inner, f"{rule_path}.{name}", rules
            )
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            yield from _value(_at(before, index), _at(after, index), f"{path}[{index}]", rule_path, rules)
    else:
        yield Change(path, "update", rules.replaces(rule_path))


def _at(items: list[Value], index: int) -> Value:
    return items[index] if index < len(items) else _MISSING


def _step(path: str, name: str) -> str:
    """Append a key to a path; keys that are no plain names (labels, tags) are quoted."""
    if name.replace("_", "a").isalnum():
        return f"{path}.{name}"
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{path}["{escaped}"]'


def apply(inputs: Value, old: Value, new: Value) -> Value:
    """Bring into `inputs` what changed from `old` to `new`, and nothing else.

    `old` and `new` are projections of outputs before and after a refresh. They hold every default that Azure
    filled in; only what changed between them is drift.
    """
    if isinstance(inputs, Mapping) and isinstance(old, Mapping) and isinstance(new, Mapping):
        return _apply_object(inputs, old, new)
    if isinstance(inputs, list) and isinstance(old, list) and isinstance(new, list):
        return [
            apply(inputs[index], old[index], item) if index < len(inputs) and index < len(old) else item
            for index, item in enumerate(new)
        ]
    return new


def _apply_object(inputs: Mapping[str, Value], old: Mapping[str, Value], new: Mapping[str, Value]) -> Values:
    result = {name: value for name, value in inputs.items() if name in new or name not in old}
    for name, value in new.items():
        if name in old and old[name] == value:
            continue
        result[name] = apply(inputs[name], old[name], value) if name in inputs and name in old else value
    return result
