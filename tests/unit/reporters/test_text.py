"""The report as text."""

import io

from rich.console import Console

from aksgpu.reporters import text
from aksgpu.reporters.report import Report


def test_a_finding_is_one_line_and_its_fix(report: Report):
    lines = text.render(report).splitlines()
    assert lines[0] == "DaemonSet kube-system/x: info AKSGPU303 an-info: It is wrong."
    assert lines[2:4] == [
        "a b.yaml:12: error AKSGPU301 dual-advertisement: It is wrong.",
        "    Fix: The fix.",
    ]
    assert "d.yaml:3: unreadable: No YAML:" in text.render(report)
    assert lines[-2] == "Allocation: none (dual-advertisement). Two advertisers."
    assert lines[-1] == (
        "5 files checked: 4 errors, 1 warning, 1 for information, 2 unreadable. "
        "2 files are no Kubernetes manifests and were passed over."
    )
    assert len(lines) == 2 * len(report.results) + len(report.unreadable) + 2


def test_a_manifest_cannot_steer_the_terminal(report: Report):
    stream = io.StringIO()
    text.show(report, Console(file=stream, force_terminal=True, no_color=True, highlight=False, markup=False))
    for written in (text.render(report), stream.getvalue()):
        assert "\\x1b[31m\\x00" in written
        assert "\x1b[31m" not in written


def shown(report: Report, *, no_color: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        force_terminal=True,
        no_color=no_color,
        highlight=False,
        markup=False,
        width=100,
        color_system="standard",
    )
    text.show(report, console)
    return stream.getvalue()


def test_a_terminal_gets_groups_and_colour(report: Report):
    assert "\x1b[1;31merror" in shown(report)
    plain = shown(report, no_color=True)
    assert "\x1b[3" not in plain
    assert plain.count("a b.yaml") == 1
    for part in ("line 12: ", "Fix: ", "Values and options", "can't be read", "5 files checked"):
        assert part in plain


def test_nothing_wrong_is_said():
    assert text.render(Report(files=1)) == "1 file checked: 0 errors, 0 warnings."
    assert text.render(Report(files=2, passed_over=1)).endswith("1 file is no Kubernetes manifest and was passed over.")
    assert text.render(Report()) == "Values checked: 0 errors, 0 warnings."
