"""What the policy SDK hands out, as plain data."""

import pulumi
from pulumi_policy.proxy import UNKNOWN_BOOLEAN_VALUE, UNKNOWN_OBJECT_VALUE, UnknownValueError, unknown_checking_proxy

from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.plain import plain

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}


def test_unknown_values_of_a_proxy_are_kept_apart_from_the_known_ones():
    props = unknown_checking_proxy(
        {"a": UNKNOWN_BOOLEAN_VALUE, "b": {"c": [1.0, UNKNOWN_OBJECT_VALUE], "d": None}, "e": "text"}
    )
    assert plain(props, UnknownValueError) == {"a": UNKNOWN, "b": {"c": [1.0, UNKNOWN], "d": None}, "e": "text"}


def test_marks_of_the_engine_in_a_state_are_unknown():
    assert plain({"a": UNKNOWN_BOOLEAN_VALUE}) == {"a": UNKNOWN}


def test_a_secret_is_its_value_when_that_can_be_read():
    assert plain({"a": {**SECRET, "value": "x"}, "b": {**SECRET, "ciphertext": "v1:"}}) == {"a": "x", "b": UNKNOWN}


def test_assets_are_mappings():
    assert plain([pulumi.StringAsset("a: 1"), pulumi.FileAsset("values.yaml")]) == [
        {"text": "a: 1"},
        {"path": "values.yaml"},
    ]


def test_what_the_engine_makes_of_a_closed_secret_is_unknown():
    assert plain({"enabled": "[secret]", "note": "a [secret] note"}) == {"enabled": UNKNOWN, "note": "a [secret] note"}
