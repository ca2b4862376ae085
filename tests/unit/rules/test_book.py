"""Every rule of the book, through its own examples."""

import re
from collections import Counter

import pytest

from aksgpu.facts.estate import Estate
from aksgpu.rules import examples
from aksgpu.rules.book import BOOK, RuleError, judge, refuse_errors, rule
from aksgpu.rules.examples import Example
from aksgpu.rules.model import Rule
from tests.unit.rules.book_examples import CASES, IDS, estate, verdict


@pytest.mark.parametrize(("entry", "example"), CASES, ids=IDS)
def test_rule_says_of_its_example_what_the_example_says(entry: Rule, example: Example):
    assert verdict(entry, example) == example.verdict


def test_the_book_was_not_empty():
    verdicts = Counter((entry.name, example.verdict) for entry, example in CASES)
    assert len(BOOK) >= 17
    assert len(CASES) >= 70
    for entry in BOOK:
        assert verdicts[entry.name, "pass"] >= 1, entry.name
        assert verdicts[entry.name, "fail"] >= 1, entry.name


def test_every_rule_that_waits_for_unknown_values_shows_it():
    waiting = {entry.name for entry, example in CASES if example.verdict == "undecided"}
    silent = {
        "version-downgrade",
        "unknown-vm-size",
        "gpu-field-changed-in-place",
        "unknown-advertiser",
        "quota-escaped",
        "claim-in-other-namespace",
        "missing-claim",
        "unknown-request-name",
    }
    assert waiting | silent == {entry.name for entry in BOOK}


def test_every_example_file_belongs_to_a_rule():
    folder = examples.path_of(BOOK[0]).parent
    assert {path.stem for path in folder.glob("*.yaml")} == {entry.name for entry in BOOK}


@pytest.mark.parametrize("entry", BOOK, ids=[entry.name for entry in BOOK])
def test_rule_is_described_in_full(entry: Rule):
    assert re.fullmatch(r"AKSGPU\d{3}", entry.id)
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", entry.name)
    for text in (entry.summary, entry.why, entry.fix, entry.on_unknown):
        assert text.endswith("."), text
    assert entry.source
    assert entry.pillars
    assert entry.prevents or entry.detects


def test_ids_and_names_are_unique():
    assert len({entry.id for entry in BOOK}) == len({entry.name for entry in BOOK}) == len(BOOK)


@pytest.mark.parametrize("entry", BOOK, ids=[entry.name for entry in BOOK])
def test_rule_is_found_by_id_and_by_name(entry: Rule):
    assert rule(entry.id.lower()) is entry
    assert rule(entry.name.upper()) is entry


def test_an_empty_estate_breaks_nothing():
    assert judge(Estate()) == []


def _failing(severity: str) -> Estate:
    return next(
        estate(example)
        for entry, example in CASES
        if entry.severity == severity and example.verdict == "fail" and len(judge(estate(example))) == 1
    )


def test_errors_are_refused_with_rule_reason_and_fix():
    with pytest.raises(RuleError) as refused:
        refuse_errors(_failing("error"))
    finding = refused.value.findings[0]
    for part in (finding.rule.id, finding.rule.name, finding.verdict.message, finding.rule.why, finding.rule.fix):
        assert part in str(refused.value)


def test_warnings_are_returned():
    assert [finding.severity for finding in refuse_errors(_failing("warning"))] == ["warning"]


def test_what_is_not_decided_is_information():
    found = [judge(estate(example)) for _, example in CASES if example.verdict == "undecided"]
    assert all(finding.severity == "info" for findings in found for finding in findings if finding.verdict.undecided)


def test_the_json_of_a_finding_has_the_agreed_keys():
    finding = judge(_failing("error"))[0]
    assert list(finding.as_json()) == [
        "rule", "name", "severity", "message", "why", "fix", "source", "object", "file", "line",
    ]  # fmt: skip
