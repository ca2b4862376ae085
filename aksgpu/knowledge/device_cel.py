"""CEL as the API server and the scheduler understand it in the selectors of claims and device classes.

Compiling answers only what is certain. The library knows neither the objects nor all functions of Kubernetes, so an
error that may come from that counts as none.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from cel_expr_python import cel

_PARTS: Final = ("driver", "attributes", "capacity", "allowMultipleAllocations")
_OF_KUBERNETES: Final = ("quantity", "isGreaterThan", "isLessThan", "compareTo", "semver")
_OPERATORS: Final = re.compile(r"[^\w]*_[^\w]|!_|-_|@in")
_ERROR: Final = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_NO_OVERLOAD: Final = re.compile(r"found no matching overload for '([^']+)' applied to '(.*)'")
_UNDECLARED: Final = re.compile(r"undeclared reference to '([A-Za-z_]\w*)[^']*'")
_NUMBER: Final = re.compile(r"\b(?:int|uint|double)\b")
_KEY: Final = re.compile(r'Key not found in map : "([^"]*)"')
_TESTED_PART: Final = re.compile(r"\bhas\s*\(\s*device\s*\.\s*\w+\s*\)")
"""`has(device.driver)`: the parts of a device are variables here, of which the library can't ask that."""
_TWO_VARIABLES: Final = re.compile(r"\(\s*[A-Za-z_]\w*\s*,\s*[A-Za-z_]\w*\s*,")
"""`list.all(index, value, ...)`, a macro that the library doesn't have."""
_REFUSALS: Final = (RuntimeError, TypeError)
"""What the library raises: it takes text that isn't Unicode, a lone surrogate, for no text."""


class Checked(NamedTuple):
    """What is certain about an expression without running it."""

    problem: str | None = None
    """Why the API server doesn't compile it."""
    type: str | None = None
    """The type of its result, such as `string`; None when only running it tells."""


class Outcome(NamedTuple):
    """What an expression says about one device."""

    value: object = None
    """None when it fails."""
    type: str | None = None
    missing: str | None = None
    """The key that isn't there, when it fails for that."""


@lru_cache(maxsize=4096)
def check(expression: str) -> Checked:
    """Compile an expression as the API server does."""
    try:
        result = _checking().compile(expression).return_type().name().lower()
    except _REFUSALS as error:
        return Checked(problem=_certain(expression, str(error)))
    certain = result not in ("dyn", "any", "error", "unknown") and not _TESTED_PART.search(expression)
    return Checked(type=result if certain else None)


def evaluate(expression: str, device: Mapping[str, Any]) -> Outcome:
    """Run an expression about one device; quantities and versions in it are numbers."""
    program = _program(expression)
    if program is None:
        return Outcome()
    result = program.eval(data={"device": device})
    kind = result.type().name().lower()
    if kind == "error":
        found = _KEY.search(str(result.value()))
        return Outcome(missing=found[1] if found else None)
    return Outcome(value=result.plain_value(), type=kind)


def _certain(expression: str, errors: str) -> str | None:
    """Return the first error that the API server finds too."""
    found = [(line, column, text.strip()) for line, column, text in _ERROR.findall(errors)]
    for line, column, text in found:
        if _is_certain(expression, text):
            said = text.removesuffix(" (in container '')")
            return f"line {line}, column {column}: {said}"
    return None


def _is_certain(expression: str, text: str) -> bool:
    if text.startswith("Syntax error"):
        return True
    overload = _NO_OVERLOAD.match(text)
    if overload:
        # Kubernetes also compares numbers of different types with each other.
        numbers = len(set(_NUMBER.findall(overload[2]))) > 1
        operator = _OPERATORS.match(overload[1]) is not None and not numbers
        return not _TESTED_PART.search(expression) and (operator or overload[1] in _OF_KUBERNETES)
    undeclared = _UNDECLARED.match(text)
    return undeclared is not None and not _may_be_declared(expression, undeclared[1])


def _may_be_declared(expression: str, name: str) -> bool:
    """Tell whether a name may be a function, a namespace of functions, or a variable of a macro."""
    called = re.search(rf"\b{name}\s*(?:\.\s*\w+\s*)*\(", expression)
    return called is not None or _TWO_VARIABLES.search(expression) is not None


@lru_cache(maxsize=1)
def _checking() -> "cel.Env":
    """Return the environment with the types of Kubernetes."""
    from cel_expr_python import cel

    kinds = cel.Type
    quantity, version = kinds.AbstractType("kubernetes.Quantity"), kinds.AbstractType("kubernetes.Semver")
    pairs = ([quantity, quantity], [version, version])
    functions = [
        _function("quantity", quantity, [kinds.STRING]),
        _function("semver", version, [kinds.STRING], [kinds.STRING, kinds.BOOL]),
        _function("isGreaterThan", kinds.BOOL, *pairs, member=True),
        _function("isLessThan", kinds.BOOL, *pairs, member=True),
        _function("compareTo", kinds.INT, *pairs, member=True),
    ]

    def domains(value: "cel.Type") -> "cel.Type":
        return kinds.Map(kinds.STRING, kinds.Map(kinds.STRING, value))

    types = (kinds.STRING, domains(kinds.DYN), domains(quantity), kinds.BOOL)
    # The library has no objects. A variable with a dot in its name stands for a field of one.
    fields = {f"device.{part}": kind for part, kind in zip(_PARTS, types, strict=True)}
    return cel.NewEnv(variables={"device": kinds.DYN, **fields}, functions=functions, extensions=_extensions())


@lru_cache(maxsize=4096)
def _program(expression: str) -> "cel.Expression | None":
    try:
        return _running().compile(expression)
    except _REFUSALS:
        return None


@lru_cache(maxsize=1)
def _running() -> "cel.Env":
    """Return the environment in which quantities and versions are numbers, as the library has no values for them."""
    from cel_expr_python import cel

    kinds = cel.Type
    pair = [kinds.DOUBLE, kinds.DOUBLE]
    functions = [
        _function("quantity", kinds.DOUBLE, [kinds.STRING], does=_quantity),
        _function("semver", kinds.DOUBLE, [kinds.STRING], does=as_number),
        _function("isGreaterThan", kinds.BOOL, pair, member=True, does=lambda left, right: left > right),
        _function("isLessThan", kinds.BOOL, pair, member=True, does=lambda left, right: left < right),
        _function("compareTo", kinds.INT, pair, member=True, does=lambda left, right: (left > right) - (left < right)),
    ]
    return cel.NewEnv(variables={"device": kinds.DYN}, functions=functions, extensions=_extensions())


def as_number(version: str) -> float:
    """Return a version `a.b.c` as a number that is ordered in the same way."""
    major, minor, patch = (int(part) for part in version.split("."))
    return float(major * 1_000_000_000 + minor * 10_000 + patch)


def _quantity(text: str) -> float:
    units = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(\w*)", text)
    if found is None or found[2] not in units:
        raise ValueError(text)
    return float(found[1]) * units[found[2]]


def _function(
    name: str,
    result: "cel.Type",
    *parameters: "list[cel.Type]",
    member: bool = False,
    does: Any = None,  # noqa: ANN401 - any function
) -> "cel.FunctionDecl":
    from cel_expr_python import cel

    given = {} if does is None else {"impl": does}
    overloads = [
        cel.Overload(id=f"{name}_{index}", return_type=result, parameters=types, is_member=member, **given)
        for index, types in enumerate(parameters)
    ]
    return cel.FunctionDecl(name, overloads)


def _extensions() -> list[Any]:
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    return [ext_strings.ExtStrings(), ext_bindings.ExtBindings(), ext_optional.ExtOptional()]
