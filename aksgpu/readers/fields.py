"""Reads single values out of nested data: absent, not known yet, right, or malformed - and never raises.

The data is plain: mappings, lists, text, numbers, booleans, None, and `UNKNOWN` wherever a value isn't known yet.
"""

import math
from collections.abc import Mapping, Sequence

from aksgpu.facts.base import Malformed, shown
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown


class Fields:
    """A view of nested data that collects what it could not read in `problems`."""

    def __init__(self, data: object, *, fold_case: bool = False, prefix: str = "") -> None:
        """`fold_case` ignores the case of keys, as Azure does; `prefix` starts the paths of problems."""
        self._data = data
        self._fold_case = fold_case
        self._prefix = prefix
        self._problems: dict[str, Malformed] = {}

    @property
    def problems(self) -> tuple[Malformed, ...]:
        """What could not be read so far, one per path."""
        return tuple(self._problems.values())

    def raw(self, path: str) -> object:
        """Return what lies at a dotted path: None when absent or null, `UNKNOWN` when it can't be known yet."""
        value = self._data
        walked: list[str] = []
        for key in path.split(".") if path else ():
            if value is None or isinstance(value, Unknown):
                return value
            if not isinstance(value, Mapping):
                return self._malformed(".".join(walked), value, "a group of keys")
            walked.append(key)
            value = self._member(value, key, ".".join(walked))
        return value

    def text(self, path: str) -> Maybe[str]:
        """Return text; empty text counts as absent."""
        value = self.raw(path)
        if isinstance(value, str | None | Unknown):
            return value if value != "" else None
        return self._malformed(path, value, "text")

    def choice(self, path: str, allowed: Sequence[str]) -> Maybe[str]:
        """Return one of the allowed words in its own spelling; case doesn't matter, any other word is malformed."""
        value = self.text(path)
        if not isinstance(value, str):
            return value
        for word in allowed:
            if word.casefold() == value.casefold():
                return word
        return self._malformed(path, value, f"one of {', '.join(allowed)}")

    def flag(self, path: str) -> Maybe[bool]:
        """Return a boolean; the words "true" and "false" are malformed, because tools differ about them."""
        value = self.raw(path)
        if isinstance(value, bool | None | Unknown):
            return value
        return self._malformed(path, value, "true or false, without quotes")

    def whole(self, path: str) -> Maybe[int]:
        """Return a whole number, also one that is written as a float."""
        value = self.raw(path)
        if value is None or isinstance(value, Unknown):
            return value
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and value == int(value)
        ):
            return int(value)
        return self._malformed(path, value, "a whole number")

    def texts(self, path: str) -> Maybe[tuple[str, ...]]:
        """Return a list of texts; unknown as a whole as soon as one element is."""
        value = self.known_items(path)
        if value is None or isinstance(value, Unknown):
            return value
        if all(isinstance(item, str) for item in value):
            return tuple(item for item in value if isinstance(item, str))
        return self._malformed(path, value, "a list of texts")

    def mapping(self, path: str) -> Maybe[dict[str, str]]:
        """Return texts by key; unknown as a whole as soon as one value is."""
        value = self.raw(path)
        if value is None or isinstance(value, Unknown):
            return value
        if not isinstance(value, Mapping):
            return self._malformed(path, value, "a group of keys")
        if any(isinstance(item, Unknown) for item in value.values()):
            return UNKNOWN
        if all(isinstance(key, str) and isinstance(item, str) for key, item in value.items()):
            return {str(key): str(item) for key, item in value.items()}
        return self._malformed(path, value, "a group of keys with texts")

    def group(self, path: str) -> Maybe[dict[str, object]]:
        """Return a group of keys, its values unread; one that isn't known yet stays `UNKNOWN` in its place."""
        value = self.raw(path)
        if value is None or isinstance(value, Unknown):
            return value
        if isinstance(value, Mapping):
            return {str(key): item for key, item in value.items()}
        return self._malformed(path, value, "a group of keys")

    def items(self, path: str) -> Maybe[list[object]]:
        """Return a list, its elements unread."""
        value = self.raw(path)
        if value is None or isinstance(value, Unknown):
            return value
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return list(value)
        return self._malformed(path, value, "a list")

    def known_items(self, path: str) -> Maybe[list[object]]:
        """Return a list, its elements unread; unknown as a whole as soon as one element is."""
        value = self.items(path)
        if isinstance(value, list) and any(isinstance(item, Unknown) for item in value):
            return UNKNOWN
        return value

    def refuse(self, path: str, value: object, expected: str) -> Unknown:
        """Record that a value which has the right type still can't be used."""
        return self._malformed(path, value, expected)

    def adopt(self, other: "Fields") -> None:
        """Take over the problems of a view into a part of this data."""
        self._problems |= other._problems

    def _member(self, group: Mapping[object, object], key: str, path: str) -> object:
        if not self._fold_case:
            return group.get(key)
        hits = [name for name in group if isinstance(name, str) and _folded(name) == _folded(key)]
        if len(hits) > 1:
            return self._malformed(path, sorted(hits), "one key; these differ only in spelling")
        if hits and hits[0].casefold() != key.casefold():
            return self._malformed(path, hits[0], f"spelt {key}; Azure drops this key without a word")
        return group[hits[0]] if hits else None

    def _malformed(self, path: str, value: object, expected: str) -> Unknown:
        full = f"{self._prefix}{path}".rstrip(".") or "the whole value"
        self._problems.setdefault(full, Malformed(path=full, given=shown(value), expected=expected))
        return UNKNOWN


def _folded(key: str) -> str:
    """Fold case, and the underscores that Python programs write where the SDK doesn't translate a key."""
    return key.replace("_", "").casefold()
