"""Reads the values of one chart at the paths that rules ask for."""

from collections.abc import Mapping
from typing import TypeVar

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.stack import ComponentName, StackChange, StackComponent
from aksgpu.facts.truth import Maybe
from aksgpu.knowledge.stack_values import VALUES
from aksgpu.readers.fields import Fields

T = TypeVar("T")


def read_component(
    name: ComponentName, values: object, place: Place, *, can_be_disabled: bool = False
) -> StackComponent:
    """Return a component with its effective values (plain data).

    A list of components may switch one off with `enabled`, and then its values are not looked at. In the values of a
    chart itself that word does nothing.
    """
    fields = Fields(values)
    enabled = fields.flag("enabled") if can_be_disabled else True
    if enabled is False:
        return StackComponent(place=place, name=name, enabled=False)
    component = StackComponent(place=place, name=name, enabled=True if enabled is None else enabled)
    nulls: dict[str, None] = {}
    for value in VALUES[name]:
        null = _null_on(values, value.path)
        if null is not None:
            nulls[null] = None
        match value.kind:
            case "flag":
                _keep(component.flags, value.path, fields.flag(value.path))
            case "text":
                _keep(component.texts, value.path, _text(fields, value.path))
            case "labels":
                _keep(component.labels, value.path, fields.mapping(value.path))
            case "list":
                items = fields.items(value.path)
                _keep(component.lists, value.path, tuple(items) if isinstance(items, list) else items)
    return component.model_copy(update={"nulls": tuple(nulls), "malformed": fields.problems})


def written_paths(name: ComponentName, values: object) -> list[str]:
    """Return the paths that rules ask for at which something is written, null too."""
    fields = Fields(values)
    paths = [value.path for value in VALUES[name]]
    return [path for path in paths if _null_on(values, path) or fields.raw(path) is not None]


def changed(before: Estate, after: Estate) -> tuple[StackChange, ...]:
    """Return the components of charts that were there before, each with what becomes of it."""
    now = {(item.place.object, item.name): item for stack in after.stacks for item in stack.components}
    return tuple(
        StackChange(
            before=old,
            after=now.get((old.place.object, old.name))
            or StackComponent(place=old.place, name=old.name, enabled=False),
        )
        for stack in before.stacks
        for old in stack.components
    )


def _keep(found: dict[str, Maybe[T]], path: str, value: Maybe[T]) -> None:
    if value is not None:
        found[path] = value


def _text(fields: Fields, path: str) -> Maybe[str]:
    """Return text; empty text is kept, because charts tell it from absent text."""
    return "" if fields.raw(path) == "" else fields.text(path)


def _null_on(values: object, path: str) -> str | None:
    """Return the part of a path at which null is written."""
    walked: list[str] = []
    for key in path.split("."):
        if not isinstance(values, Mapping) or key not in values:
            return None
        walked.append(key)
        values = values[key]
        if values is None:
            return ".".join(walked)
    return None
