"""Exemptions: which are accepted, what they cover, until when."""

from datetime import date
from typing import Any

import pytest

from aksgpu.packs.exemptions import read_exemptions

URN = "urn:pulumi:dev::shop::azure-native:resources:Resource::gpunp"
RIGHT = {"urn": URN, "reason": "moved in March", "expires": "2027-03-31"}
DAY = date(2027, 3, 31)


def exempt(**changes: Any) -> dict[str, Any]:
    return {"exemptions": [{key: value for key, value in {**RIGHT, **changes}.items() if value is not None}]}


@pytest.mark.parametrize(
    "pattern",
    [
        URN,
        "urn:pulumi:dev::*::gpunp",
        "urn:pulumi:*::shop::*::gpu*",
        "urn:pulumi:dev::shop::*::g?unp",
        "urn:pulumi:dev::shop::*::[fg]punp",
        "urn:pulumi:dev::shop::*::[!a]punp",
    ],
)
def test_patterns_cover_urns_as_file_names_do(pattern: str):
    found = read_exemptions("r", exempt(urn=pattern))
    assert found.problems == ()
    covering = found.of(URN, DAY)
    assert covering is not None
    assert covering.holds(DAY)
    assert found.of(URN + "2", DAY) is None or pattern.endswith("*")
    assert found.of(URN.upper(), DAY) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"reason": None}, "its reason is missing"),
        ({"reason": ""}, "its reason is missing"),
        ({"reason": "  \n"}, "its reason is missing"),
        ({"reason": 7.0}, "its reason is missing"),
        ({"expires": None}, "its expires is missing"),
        ({"expires": "2027-02-30"}, "is not a day"),
        ({"expires": "20270331"}, "is not a day"),
        ({"expires": "next year"}, "is not a day"),
        ({"expires": "2027-03-31T00:00:00Z"}, "is not a day"),
        ({"urn": None}, "its urn is missing"),
        ({"urn": "*"}, "has to start with urn:pulumi:"),
        ({"urn": "gpunp"}, "has to start with urn:pulumi:"),
        ({"urn": "urn:pulumi:*"}, "names nothing after a last ::"),
        ({"urn": "urn:pulumi:dev::shop::*::*"}, "names nothing after a last ::"),
        ({"urn": "urn:pulumi:dev::shop::*::[a-z]*"}, "names nothing after a last ::"),
        ({"urn": "urn:pulumi:dev::shop::*::gpu[np"}, "has a [ without a ]"),
        ({"until": "2027-03-31"}, 'has an unknown key "until"'),
    ],
)
def test_what_is_written_wrong_does_not_hold_and_says_where_and_why(changes: dict[str, Any], said: str):
    found = read_exemptions("dra-os-sku", exempt(**changes))
    assert found.entries == ()
    (problem,) = found.problems
    assert problem.startswith("exemptions[0] of policy dra-os-sku does not hold: ")
    assert said in problem


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"exemptions": {"urn": URN}}, "it has to be a list"),
        ({"exemptions": URN}, "it has to be a list"),
        ({"exemptions": None}, "it has to be a list"),
        ({"exemptions": [URN]}, "has to be a mapping"),
        ({"exemption": []}, 'unknown key "exemption"'),
    ],
)
def test_a_configuration_of_another_shape_is_a_problem(config: dict[str, Any], said: str):
    found = read_exemptions("dra-os-sku", config)
    assert found.entries == ()
    assert said in found.problems[0]
    assert "dra-os-sku" in found.problems[0]


def test_one_wrong_exemption_does_not_take_the_right_ones_with_it():
    found = read_exemptions("r", {"exemptions": [{"urn": URN}, RIGHT]})
    assert len(found.problems) == 2
    assert found.of(URN, DAY) is not None


def test_an_exemption_holds_on_its_last_day_and_not_after():
    covering = read_exemptions("r", exempt()).of(URN, DAY)
    assert covering is not None
    assert covering.holds(DAY)
    assert not covering.holds(date(2027, 4, 1))


def test_of_several_the_one_that_still_holds_counts():
    older = {**RIGHT, "expires": "2026-01-01"}
    found = read_exemptions("r", {"exemptions": [older, RIGHT, older]}).of(URN, DAY)
    assert found is not None
    assert found.expires == DAY
