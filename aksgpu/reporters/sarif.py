"""The report as SARIF 2.1.0, which code review shows beside the lines."""

import hashlib
import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aksgpu.reporters.report import Failure, Report, Result, RuleText

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_FINGERPRINT = "aksgpu/v1"
_ADDRESS = re.compile(r"https://[^\s,;)]+")


def render(report: Report, version: str, folder: Path) -> str:
    """Return the report as a SARIF log; file names below `folder` are relative to it."""
    indexes = {rule.id: index for index, rule in enumerate(report.rules)}
    seen: Counter[str] = Counter()
    driver = {
        "name": "aksgpu",
        "semanticVersion": version,
        "rules": [_rule(rule) for rule in report.rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The folder that aksgpu was started in."}}},
        "invocations": [
            {
                "executionSuccessful": not report.unreadable,
                "toolExecutionNotifications": [_notification(failure, folder) for failure in report.unreadable],
            }
        ],
        "results": [_result(result, indexes, seen, folder) for result in report.results],
    }
    if report.allocation is not None:
        found = report.allocation
        run["properties"] = {"allocation": {"policy": found.policy, "verdict": found.verdict, "message": found.message}}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: RuleText) -> dict[str, Any]:
    address = _ADDRESS.search(rule.source)
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {
            "text": f"{rule.summary} Why: {rule.why} Fix: {rule.fix} Source: {rule.source}",
            "markdown": f"**{rule.summary}**\n\n{rule.why}\n\n**Fix:** {rule.fix}\n\n*Source: {rule.source}*",
        },
        **({"helpUri": address.group()} if address else {}),
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["aks", "gpu", "kubernetes"], "problem.severity": _problem_severity(rule)},
    }


def _problem_severity(rule: RuleText) -> str:
    """Return the word that GitHub sorts by."""
    return "recommendation" if rule.severity == "info" else rule.severity


def _result(result: Result, indexes: dict[str, int], seen: Counter[str], folder: Path) -> dict[str, Any]:
    return {
        "ruleId": result.rule,
        "ruleIndex": indexes[result.rule],
        "level": _LEVELS[result.severity],
        "message": {"text": f"{result.message} Fix: {result.fix}"},
        "locations": [_location(result, folder)],
        "partialFingerprints": {_FINGERPRINT: _fingerprint(result, seen)},
    }


def _location(result: Result, folder: Path) -> dict[str, Any]:
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": result.object, "kind": "resource"}]}
    if result.file is not None:
        location["physicalLocation"] = _physical(result.file, result.line, folder)
    return location


def _physical(file: str, line: int | None, folder: Path) -> dict[str, Any]:
    """Return where it is in a file. A finding without a line is shown at the first one, where a review can show it."""
    return {"artifactLocation": _artifact(file, folder), "region": {"startLine": line or 1}}


def _artifact(file: str, folder: Path) -> dict[str, str]:
    if file == "-":
        return {"uri": "stdin"}
    path = Path(file).absolute()
    if path.is_relative_to(folder):
        return {"uri": quote(os.fsencode(path.relative_to(folder).as_posix())), "uriBaseId": "SRCROOT"}
    return {"uri": path.as_uri()}


def _fingerprint(result: Result, seen: Counter[str]) -> str:
    """Return what stays the same when lines move: the rule, the file and the object; equal ones are counted."""
    text = "\0".join((result.rule, result.file or "", result.object))
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"


def _notification(failure: Failure, folder: Path) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": failure.message},
        "locations": [{"physicalLocation": _physical(failure.file, failure.line, folder)}],
    }
