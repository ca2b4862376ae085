import pytest

from aksgpu.reporters.report import Allocation, Failure, Report, Result, RuleText, Severity

NASTY = "a \x1b[31m\x00 <b> & ]]> \udc80 \u2028 name"


def rule(number: str, name: str, severity: Severity) -> RuleText:
    return RuleText(number, name, severity, f"Summary of {name}.", "Why.", "The fix.", "Docs, https://example.org/a, b")


def result(rule: RuleText, file: str | None, line: int | None, message: str = "It is wrong.") -> Result:
    return Result(
        rule.id,
        rule.name,
        rule.severity,
        message,
        rule.why,
        rule.fix,
        rule.source,
        "DaemonSet kube-system/x",
        file,
        line,
    )


@pytest.fixture
def report() -> Report:
    error, warning, info = (
        rule("AKSGPU301", "dual-advertisement", "error"),
        rule("AKSGPU302", "a-warning", "warning"),
        rule("AKSGPU303", "an-info", "info"),
    )
    silent = rule("AKSGPU304", "silent", "error")
    return Report(
        results=[
            result(info, None, None),
            result(error, "a b.yaml", 12),
            result(error, "a b.yaml", 12),
            result(error, "a b.yaml", 13, NASTY),
            result(warning, "deep/c.yaml", None),
            result(error, "-", 3),
        ],
        allocation=Allocation(None, "dual-advertisement", "Two advertisers."),
        unreadable=[Failure("d.yaml", 3, f"No YAML: {NASTY}"), Failure("/elsewhere/e.yaml", None, "Gone.")],
        rules=[error, warning, info, silent],
        files=5,
        passed_over=2,
    )
