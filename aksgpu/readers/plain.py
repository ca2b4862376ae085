"""Turns values of Pulumi into plain data with `UNKNOWN` in the places that aren't known yet."""

from collections.abc import Mapping, Sequence

from aksgpu.facts.truth import UNKNOWN

_UNKNOWN_MARKS = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
        # What a preview, and `pulumi policy analyze --file`, make of a secret that they don't show, whatever its type.
        "[secret]",
    }
)
"""How the Pulumi engine writes values that it doesn't know (sdk/go/common/resource/plugin, rpc.go)."""

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the engine's mark of a secret, not a secret
_ASSETS = ("text", "path", "uri")


def plain(value: object, unknown_error: type[Exception] | None = None) -> object:
    """Return a deep copy of `value` as mappings, lists, scalars and `UNKNOWN`.

    The policy SDK hands out proxies that raise an error when an unknown value is read; `unknown_error` is its type.
    Reading key by key keeps what is known. A secret is its value when that is readable, else unknown.
    """
    if isinstance(value, str):
        return UNKNOWN if value in _UNKNOWN_MARKS else value
    if isinstance(value, Mapping):
        return _mapping(value, unknown_error)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_element(value, index, unknown_error) for index in range(len(value))]
    return _asset(value)


def _mapping(value: Mapping[object, object], unknown_error: type[Exception] | None) -> object:
    if value.get(_SIGNATURE) == _SECRET:
        return plain(value["value"], unknown_error) if "value" in value else UNKNOWN
    return {key: _element(value, key, unknown_error) for key in value}


def _element(container: object, key: object, unknown_error: type[Exception] | None) -> object:
    if unknown_error is None:
        return plain(container[key])  # ty: ignore[not-subscriptable] - a mapping or sequence, by the callers
    try:
        item = container[key]  # ty: ignore[not-subscriptable] - as above
    except unknown_error:
        return UNKNOWN
    return plain(item, unknown_error)


def _asset(value: object) -> object:
    """Return an asset as a mapping with its text, path or address; anything else as it is."""
    found = {name: getattr(value, name) for name in _ASSETS if isinstance(getattr(value, name, None), str)}
    return found or value
