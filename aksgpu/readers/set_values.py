"""Single values on the command line, `COMPONENT:key.path=value`, typed as Helm's `--set` types them."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from aksgpu.errors import AksgpuError

Key = str | int
_SEGMENT = re.compile(r"((?:[^\\.\[\]=]|\\.)+)((?:\[\d+\])*)")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_GO_BOOLEANS = {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}
_MOST_ELEMENTS = 1000


class Setting(NamedTuple):
    """One value and where it goes."""

    component: str
    path: tuple[Key, ...]
    value: object


def parse(text: str) -> Setting:
    """Take one setting apart; AksgpuError says what is wrong with it."""
    component, colon, rest = text.partition(":")
    key, equals, value = rest.partition("=")
    if not (component and colon and key and equals):
        raise AksgpuError(
            f"--set takes COMPONENT:key.path=value, for example gpu-operator:driver.enabled=false; not '{text}'."
        )
    path = _path(key, text)
    return Setting(component, path, _switch(value, text) if path == ("enabled",) else _typed(value, text))


def applied(values: object, path: tuple[Key, ...], value: object) -> object:
    """Return values with one of them set; what is in the way is replaced, as Helm does."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        items = list(values) if isinstance(values, list) else []
        items += [None] * (first + 1 - len(items))
        items[first] = applied(items[first], rest, value)
        return items
    group = dict(values) if isinstance(values, Mapping) else {}
    return {**group, first: applied(group.get(first), rest, value)}


def _path(key: str, text: str) -> tuple[Key, ...]:
    path: list[Key] = []
    position = 0
    while True:
        match = _SEGMENT.match(key, position)
        if match is None:
            break
        path.append(re.sub(r"\\(.)", r"\1", match[1]))
        path += [int(number) for number in re.findall(r"\d+", match[2])]
        if match.end() == len(key):
            break
        position = match.end() + 1
        if key[match.end()] != ".":
            match = None
            break
    if match is None:
        raise AksgpuError(f"--set {text}: '{key}' is no path of keys such as driver.enabled or tolerations[0].key.")
    if any(isinstance(part, int) and part >= _MOST_ELEMENTS for part in path):
        raise AksgpuError(f"--set {text}: lists have at most {_MOST_ELEMENTS} elements here.")
    return tuple(path)


def _switch(value: str, text: str) -> bool:
    found = _GO_BOOLEANS.get(value.casefold())
    if found is None:
        raise AksgpuError(f"--set {text}: a component is enabled or not, so the value is true or false.")
    return found


def _typed(value: str, text: str) -> object:
    if value.startswith("{") and value.endswith("}"):
        inner = value[1:-1]
        return [_scalar(part.strip()) for part in _parts(inner)] if inner.strip() else []
    if len(_parts(value)) > 1:
        raise AksgpuError(f"--set {text}: give --set once for each value, and write a comma in a value as '\\,'.")
    return _scalar(value)


def _parts(value: str) -> list[str]:
    return re.split(r"(?<!\\),", value)


def _scalar(value: str) -> object:
    if value.casefold() in _WORDS:
        return _WORDS[value.casefold()]
    # A leading zero makes text, as in Helm: it is meant to stay.
    if re.fullmatch(r"0|-?[1-9]\d{0,18}", value):
        return int(value)
    return re.sub(r"\\(.)", r"\1", value)
