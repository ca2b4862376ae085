"""Evaluates the simple expressions of ARM templates; what needs Azure to be known is `UNKNOWN`.

Known are literals, `parameters`, `variables`, `concat`, `format`, `toLower`, `toUpper` and `if` of known values, with
members and elements of their results.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aksgpu.facts.truth import UNKNOWN, Unknown

_PARTS = re.compile(r"\s*('(?:[^']|'')*'|-?\d+(?![\w.])|[A-Za-z_][\w]*|[()\[\],.])")
_DEEPEST = 50


@dataclass(frozen=True)
class Scope:
    """The values that expressions of a template may name; names ignore case."""

    parameters: Mapping[str, object] = field(default_factory=dict)
    variables: Mapping[str, object] = field(default_factory=dict)

    def resolve(self, value: object, depth: int = 0) -> object:
        """Return a copy of `value` with expressions replaced by what they come to."""
        if depth > _DEEPEST:
            return UNKNOWN
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, Mapping):
            return self._group(value, depth)
        if isinstance(value, list | tuple):
            return [self.resolve(item, depth + 1) for item in value]
        return value

    def _text(self, text: str, depth: int) -> object:
        if text.startswith("[["):
            return text[1:]
        if not (text.startswith("[") and text.endswith("]")):
            return text
        try:
            return _Expression(text[1:-1], self, depth).value()
        except (ValueError, RecursionError):
            return UNKNOWN

    def _group(self, group: Mapping[object, object], depth: int) -> object:
        resolved = {key: self.resolve(value, depth + 1) for key, value in group.items() if key != "copy"}
        copies = group.get("copy")
        if isinstance(copies, list | tuple):  # what a loop makes is known to Azure only
            made = {str(item.get("name")): UNKNOWN for item in copies if isinstance(item, Mapping)}
            return {**resolved, **made}
        return resolved if "copy" not in group else {**resolved, "copy": UNKNOWN}

    def named(self, function: str, name: object, depth: int) -> object:
        """Return a parameter or a variable."""
        values = self.parameters if function == "parameters" else self.variables
        if not isinstance(name, str):
            return UNKNOWN
        found = next((value for key, value in values.items() if str(key).casefold() == name.casefold()), UNKNOWN)
        # A parameter's value is data; only variables are written in expressions.
        return found if function == "parameters" else self.resolve(found, depth + 1)


class _Expression:
    """One expression, read from left to right."""

    def __init__(self, text: str, scope: Scope, depth: int) -> None:
        self._parts = _PARTS.findall(text)
        if "".join(self._parts) != re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", text):
            raise ValueError(text)
        self._at = 0
        self._scope = scope
        self._depth = depth

    def value(self) -> object:
        result = self._operand()
        if self._at != len(self._parts):
            raise ValueError(self._parts)
        return result

    def _next(self) -> str:
        if self._at >= len(self._parts):
            raise ValueError("the expression ends too early")
        self._at += 1
        return self._parts[self._at - 1]

    def _peek(self) -> str:
        return self._parts[self._at] if self._at < len(self._parts) else ""

    def _operand(self) -> object:
        part = self._next()
        if part.startswith("'"):
            return part[1:-1].replace("''", "'")
        if part.lstrip("-").isdigit():
            return int(part)
        if self._next() != "(":
            raise ValueError(part)
        return self._members(self._call(part.casefold(), self._arguments()))

    def _arguments(self) -> list[object]:
        found: list[object] = []
        while self._peek() != ")":
            found.append(self._operand())
            if self._peek() == ",":
                self._next()
        self._next()
        return found

    def _call(self, function: str, arguments: list[object]) -> object:
        if function in ("parameters", "variables"):
            return self._scope.named(function, arguments[0] if arguments else None, self._depth)
        if function in ("true", "false", "null") and not arguments:
            return {"true": True, "false": False, "null": None}[function]
        known = _FUNCTIONS.get(function)
        if known is None or any(isinstance(item, Unknown) for item in arguments):
            return UNKNOWN
        return known(arguments)

    def _members(self, value: object) -> object:
        while self._peek() in (".", "["):
            if self._next() == ".":
                key: object = self._next()
            else:
                key = self._operand()
                self._next()
            value = _member(value, key)
        return value


def _member(value: object, key: object) -> object:
    if isinstance(value, Mapping) and isinstance(key, str):
        return next((item for name, item in value.items() if str(name).casefold() == key.casefold()), UNKNOWN)
    if isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
        return value[key]
    return UNKNOWN


def _concat(arguments: list[object]) -> object:
    if all(isinstance(item, list) for item in arguments):
        return [part for item in arguments if isinstance(item, list) for part in item]
    return "".join(str(item) for item in arguments) if _are_scalars(arguments) else UNKNOWN


def _format(arguments: list[object]) -> object:
    if not (arguments and isinstance(arguments[0], str) and _are_scalars(arguments)):
        return UNKNOWN
    filled = arguments[0]
    for index, item in enumerate(arguments[1:]):
        filled = filled.replace(f"{{{index}}}", str(item))
    return UNKNOWN if re.search(r"\{\d", filled) else filled


def _are_scalars(values: list[object]) -> bool:
    return all(isinstance(item, str) or type(item) is int for item in values)


def _cased(change: Callable[[str], str]) -> Callable[[list[object]], object]:
    return lambda arguments: change(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], str) else UNKNOWN


def _if(arguments: list[object]) -> object:
    if len(arguments) != 3 or not isinstance(arguments[0], bool):
        return UNKNOWN
    return arguments[1] if arguments[0] else arguments[2]


_FUNCTIONS: dict[str, Callable[[list[object]], object]] = {
    "concat": _concat,
    "format": _format,
    "tolower": _cased(str.lower),
    "toupper": _cased(str.upper),
    "if": _if,
}
