"""Reading single values: absent, unknown, right, malformed."""

from typing import Any

import pytest

from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.fields import Fields


@pytest.mark.parametrize(
    ("read", "value", "result"),
    [
        ("text", "a", "a"),
        ("text", "", None),
        ("text", None, None),
        ("text", UNKNOWN, UNKNOWN),
        ("flag", True, True),
        ("flag", None, None),
        ("flag", UNKNOWN, UNKNOWN),
        ("whole", 2, 2),
        ("whole", 2.0, 2),
        ("texts", ["a"], ("a",)),
        ("texts", ["a", UNKNOWN], UNKNOWN),
        ("mapping", {"a": "b"}, {"a": "b"}),
        ("mapping", {"a": UNKNOWN}, UNKNOWN),
    ],
)
def test_value_that_can_be_read(read: str, value: Any, result: object):
    fields = Fields({"key": value})
    assert getattr(fields, read)("key") == result
    assert fields.problems == ()


@pytest.mark.parametrize(
    ("read", "value"),
    [
        ("text", 1.35),
        ("text", ["a"]),
        ("flag", "true"),
        ("flag", 1),
        ("flag", "yes"),
        ("whole", True),
        ("whole", "2"),
        ("whole", 1.5),
        ("whole", float("nan")),
        ("texts", "a"),
        ("texts", [1]),
        ("mapping", ["a"]),
        ("mapping", {"a": True}),
    ],
)
def test_malformed_value_is_told_and_unknown(read: str, value: Any):
    fields = Fields({"group": {"key": value}}, prefix="properties.")
    assert getattr(fields, read)("group.key") is UNKNOWN
    assert [problem.path for problem in fields.problems] == ["properties.group.key"]


def test_a_path_through_something_that_is_no_group_is_malformed_there():
    fields = Fields({"gpuProfile": "none"})
    assert fields.text("gpuProfile.nvidia.driverMode") is UNKNOWN
    assert [problem.path for problem in fields.problems] == ["gpuProfile"]


def test_null_on_the_way_is_absent_and_unknown_on_the_way_is_unknown():
    fields = Fields({"a": None, "b": UNKNOWN})
    assert fields.text("a.x.y") is None
    assert fields.text("b.x.y") is UNKNOWN


def test_words_are_recognised_in_any_case_and_others_refused():
    fields = Fields({"a": "dra", "b": " DRA"})
    assert fields.choice("a", ("DevicePlugin", "DRA")) == "DRA"
    assert fields.choice("b", ("DevicePlugin", "DRA")) is UNKNOWN
    assert "one of DevicePlugin, DRA" in fields.problems[0].expected


def test_keys_that_differ_only_in_case_are_refused_where_case_does_not_matter():
    fields = Fields({"vmSize": "a", "vmsize": "b"}, fold_case=True)
    assert fields.text("vmSize") is UNKNOWN
    assert "differ only in spelling" in fields.problems[0].expected
    assert Fields({"vmSize": "a", "vmsize": "b"}).text("vmSize") == "a"


def test_a_key_in_snake_case_is_refused_where_azure_would_drop_it():
    fields = Fields({"gpuProfile": {"nvidia": {"driver_mode": "DRA"}}}, fold_case=True)
    assert fields.text("gpuProfile.nvidia.driverMode") is UNKNOWN
    assert [problem.path for problem in fields.problems] == ["gpuProfile.nvidia.driverMode"]
    assert "spelt driverMode" in fields.problems[0].expected
