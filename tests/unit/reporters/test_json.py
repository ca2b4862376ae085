"""The report as JSON."""

import json as standard

from aksgpu.reporters import json
from aksgpu.reporters.report import Report


def test_the_shape_is_the_promised_one(report: Report):
    written = standard.loads(json.render(report))
    assert list(written) == ["version", "findings", "allocation", "unreadable"]
    assert written["version"] == 1
    assert list(written["findings"][0]) == [
        "rule", "name", "severity", "message", "why", "fix", "source", "object", "file", "line",
    ]  # fmt: skip
    assert [(finding["file"], finding["line"]) for finding in written["findings"]] == [
        (None, None), ("a b.yaml", 12), ("a b.yaml", 12), ("a b.yaml", 13), ("deep/c.yaml", None), ("-", 3),
    ]  # fmt: skip
    assert written["allocation"] == {"policy": None, "verdict": "dual-advertisement", "message": "Two advertisers."}
    assert list(written["unreadable"][0]) == ["file", "line", "message"]


def test_an_empty_report_has_every_key():
    assert standard.loads(json.render(Report())) == {
        "version": 1, "findings": [], "allocation": None, "unreadable": [],
    }  # fmt: skip
