"""Hands a request in the spelling of the REST API to a typed resource of azure-native, without losing anything."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import pulumi

from components import live


def arguments(what: str, args_class: type, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return `asked` as arguments of the typed resource; refuse what it has no argument for and so would drop."""
    known = _arguments(args_class)
    unknown = sorted(key for key in asked if key.casefold() not in known)
    if unknown:
        raise live.RefusedError(
            f"{what}: {args_class.__name__.removesuffix('Args')} of azure-native has no {', '.join(unknown)} and would "
            "drop it without a word. Correct the spelling, or remove it from further_properties."
        )
    return {known[key.casefold()]: value for key, value in asked.items()}


def inputs(
    asked: pulumi.Output[dict[str, Any]], expected: Callable[[], dict[str, Any]]
) -> dict[str, pulumi.Output[Any]]:
    """Return each argument as an output that waits for `asked`, the arguments once they have passed their checks.

    Which arguments there will be has to be known before; `expected` makes them without the checks. What it refuses,
    the checks refuse too, with the reason and where programs in other languages see it.
    """
    try:
        names = list(expected())
    except live.RefusedError:
        return {}
    return {name: asked.apply(partial(_part, name)) for name in names}


def _part(name: str, asked: dict[str, Any]) -> Any:  # noqa: ANN401 - an argument of any type
    return asked[name]


def further(what: str, decided: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is passed through; refuse a key that the component decides."""
    known = {key.casefold(): key for key in decided}
    clashes = sorted(known[key.casefold()] for key in given if key.casefold() in known)
    if clashes:
        raise live.RefusedError(
            f"{what}: further_properties has {', '.join(clashes)}, which the component decides by its own arguments. "
            "Set those instead."
        )
    return dict(given)


@cache
def _arguments(args_class: type) -> dict[str, str]:
    """Return REST names, case folded, to the arguments of a resource."""
    return {name.replace("_", "").casefold(): name for name in args_class.__init__.__annotations__}
