"""Values that may not be known yet, and the three-valued logic that rules decide with.

A preview often doesn't know a value. Rules must neither guess it nor skip it, so everything that rules ask
is answered with true, false or `UNKNOWN`, combined by Kleene's rules: one false makes a conjunction
false whatever the unknown parts turn out to be.
"""

from typing import Final, Literal, TypeGuard, TypeVar, final

T = TypeVar("T")


@final
class Unknown:
    """The type of `UNKNOWN`, a value that exists and will be known later."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unknown"

    def __bool__(self) -> bool:
        raise TypeError("An unknown value is neither true nor false; compare it with `is UNKNOWN` first.")

    def __copy__(self) -> "Unknown":
        return self

    def __deepcopy__(self, memo: object) -> "Unknown":
        return self

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()
"""The only value of its type."""

Truth = bool | Unknown

Maybe = T | None | Unknown
"""A fact: its value, None when it was not written, `UNKNOWN` when it can't be known yet."""


def known(value: "Maybe[T]") -> "TypeGuard[T]":
    """Tell whether `value` was written and is known."""
    return value is not None and not isinstance(value, Unknown)


def equals(value: Maybe[str], expected: str) -> Truth:
    """Compare as Azure does, without regard to case; a value that was not written equals nothing."""
    if isinstance(value, Unknown):
        return UNKNOWN
    return value is not None and value.casefold() == expected.casefold()


def one_of(value: Maybe[str], expected: tuple[str, ...]) -> Truth:
    """Compare with several values, without regard to case."""
    return any_of(*(equals(value, candidate) for candidate in expected))


def is_true(value: Maybe[bool]) -> Truth:
    """Answer whether a switch is on; one that was not written is off."""
    return UNKNOWN if isinstance(value, Unknown) else bool(value)


def not_(truth: Truth) -> Truth:
    """Negate; unknown stays unknown."""
    return UNKNOWN if isinstance(truth, Unknown) else not truth


def all_of(*truths: Truth) -> Truth:
    """Kleene's conjunction."""
    return _fold(truths, decisive=False)


def any_of(*truths: Truth) -> Truth:
    """Kleene's disjunction."""
    return _fold(truths, decisive=True)


def _fold(truths: tuple[Truth, ...], *, decisive: Literal[True, False]) -> Truth:
    if any(truth is decisive for truth in truths):
        return decisive
    return UNKNOWN if any(isinstance(truth, Unknown) for truth in truths) else not decisive
