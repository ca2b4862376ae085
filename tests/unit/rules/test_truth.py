"""Three-valued logic."""

import copy
import itertools
import pickle

import pytest

from aksgpu.facts.truth import UNKNOWN, Truth, all_of, any_of, equals, is_true, not_, one_of

VALUES: tuple[Truth, ...] = (True, False, UNKNOWN)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(VALUES, VALUES)))
def test_de_morgan(a: Truth, b: Truth):
    assert not_(all_of(a, b)) is any_of(not_(a), not_(b))


def test_one_false_decides_a_conjunction_and_one_true_a_disjunction():
    assert all_of(UNKNOWN, False) is False
    assert all_of(UNKNOWN, True) is UNKNOWN
    assert any_of(UNKNOWN, True) is True
    assert any_of(UNKNOWN, False) is UNKNOWN
    assert all_of() is True
    assert any_of() is False


def test_an_unknown_value_has_no_truth_of_its_own():
    with pytest.raises(TypeError):
        bool(UNKNOWN)


def test_there_is_one_unknown():
    assert copy.deepcopy(UNKNOWN) is UNKNOWN
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN


def test_comparisons_ignore_case_and_keep_the_unknown():
    assert equals("dra", "DRA") is True
    assert equals(None, "DRA") is False
    assert equals(UNKNOWN, "DRA") is UNKNOWN
    assert one_of("mixed", ("Single", "Mixed")) is True
    assert is_true(None) is False
