"""The report as JUnit XML."""

import xml.etree.ElementTree as ET

import pytest

from aksgpu.reporters import junit
from aksgpu.reporters.report import Report


@pytest.fixture
def suite(report: Report) -> ET.Element:
    suites = ET.fromstring(junit.render(report).encode("utf-8"))
    assert suites.tag == "testsuites"
    return suites[0]


def test_every_rule_and_every_unreadable_input_is_a_test(suite: ET.Element):
    assert [case.get("classname") for case in suite] == [
        "aksgpu.dual-advertisement", "aksgpu.a-warning", "aksgpu.an-info", "aksgpu.silent",
        "aksgpu.inputs", "aksgpu.inputs",
    ]  # fmt: skip
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "6", "failures": "1", "errors": "2",
    }  # fmt: skip


def test_errors_fail_and_the_rest_passes_with_its_text(suite: ET.Element):
    error, warning, info, silent, first, _ = list(suite)
    failure = error.find("failure")
    assert failure is not None
    assert failure.get("message") == "a b.yaml:12: It is wrong. (and 3 more)"
    assert (failure.text or "").count("Fix: The fix.") == 4
    for case in (warning, info):
        assert [child.tag for child in case] == ["system-out"]
    assert list(silent) == []
    assert [child.tag for child in first] == ["error"]


def test_what_xml_cannot_hold_is_escaped(report: Report):
    text = junit.render(report)
    assert "\\x1b[31m\\x00" in text
    assert "\\udc80" in text
    ET.fromstring(text.encode("utf-8"))
