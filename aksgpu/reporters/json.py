"""The report as JSON, for scripts."""

import json
from dataclasses import asdict

from aksgpu.reporters.report import Report

VERSION = 1
"""Rises when a key changes its meaning or goes; new keys may come at any time."""


def render(report: Report) -> str:
    """Return the report as one JSON object."""
    return json.dumps(
        {
            "version": VERSION,
            "findings": [asdict(result) for result in report.results],
            "allocation": asdict(report.allocation) if report.allocation else None,
            "unreadable": [asdict(failure) for failure in report.unreadable],
        },
        indent=2,
    )
