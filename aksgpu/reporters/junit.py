"""The report as JUnit XML, which build servers show as tests: one for each rule, and one for each input."""

import xml.etree.ElementTree as ET
from collections import defaultdict

from aksgpu.reporters.report import Failure, Report, Result, RuleText, one_line, printable, where


def render(report: Report) -> str:
    """Return the report as JUnit XML. Rules that only warn pass, and say what they found in their output."""
    found: dict[str, list[Result]] = defaultdict(list)
    for result in report.results:
        found[result.rule].append(result)
    suite = ET.Element("testsuite", name="aksgpu check")
    for rule in report.rules:
        _rule(suite, rule, found[rule.id])
    for failure in report.unreadable:
        _unreadable(suite, failure)
    failures = len(suite.findall("testcase/failure"))
    totals = {"tests": len(suite), "failures": failures, "errors": len(report.unreadable), "skipped": 0}
    suite.attrib |= {key: str(value) for key, value in totals.items()}
    suites = ET.Element("testsuites", {"name": "aksgpu", **suite.attrib} | {"name": "aksgpu"})
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=False)


def _rule(suite: ET.Element, rule: RuleText, results: list[Result]) -> None:
    case = ET.SubElement(suite, "testcase", classname=f"aksgpu.{rule.name}", name=f"{rule.id} {rule.summary}")
    errors = [result for result in results if result.severity == "error"]
    others = [result for result in results if result.severity != "error"]
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        message = f"{where(errors[0])}: {errors[0].message}{more}"
        failure = ET.SubElement(case, "failure", type=rule.name, message=one_line(message))
        failure.text = "\n\n".join(_text(result) for result in errors)
    if others:
        ET.SubElement(case, "system-out").text = "\n\n".join(_text(result) for result in others)


def _unreadable(suite: ET.Element, failure: Failure) -> None:
    case = ET.SubElement(suite, "testcase", classname="aksgpu.inputs", name=one_line(failure.file))
    error = ET.SubElement(case, "error", type="unreadable", message=one_line(failure.message))
    error.text = printable(f"{where(failure)}: {failure.message}")


def _text(result: Result) -> str:
    return printable(
        f"{where(result)}: {result.severity}: {result.message}\n"
        f"Object: {result.object}\nWhy: {result.why}\nFix: {result.fix}\nSource: {result.source}"
    )
