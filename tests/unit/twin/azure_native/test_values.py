import pytest
from google.protobuf import struct_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from twin.azure_native.values import UNKNOWN, from_struct, has_unknowns, to_struct
from twin.errors import TwinError

_scalars = st.one_of(
    st.text(), st.booleans(), st.integers(-(2**50), 2**50), st.floats(allow_nan=False, allow_infinity=False)
)
_values = st.recursive(
    st.one_of(_scalars, st.just(UNKNOWN)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), _values))
def test_values_survive_the_wire(values):
    assert from_struct(to_struct(values)) == values


def test_nulls_are_left_out_and_whole_numbers_are_int():
    message = struct_pb2.Struct()
    message.update({"gone": None, "count": 3.0, "price": 0.5})
    values = from_struct(message)
    assert values == {"count": 3, "price": 0.5}
    assert isinstance(values["count"], int)


def test_a_secret_is_unwrapped():
    message = struct_pb2.Struct()
    message.update(
        {
            "password": {
                "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                "value": "hunter2",
            }
        }
    )
    assert from_struct(message) == {"password": "hunter2"}


def test_an_asset_is_refused():
    message = struct_pb2.Struct()
    message.update({"file": {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "x"}})
    with pytest.raises(TwinError, match="asset"):
        from_struct(message)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(UNKNOWN, True), ({"a": [1, {"b": UNKNOWN}]}, True), ({"a": [1, {"b": "c"}]}, False), ("x", False)],
)
def test_has_unknowns_looks_everywhere(value, expected):
    assert has_unknowns(value) is expected
