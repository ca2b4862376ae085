"""The CrossGuard policies: one for each rule of the book, in two packs."""

from datetime import UTC, date, datetime

from pulumi_policy import EnforcementLevel, Policy

from aksgpu.packs.policies import policies
from aksgpu.rules.book import BOOK


def guardrails(today: date | None = None) -> list[Policy]:
    """Return the policies of the mandatory pack: the rules of severity error.

    `today` is the day on which support windows and exemptions are judged; by default the day in UTC.
    """
    rules = [rule for rule in BOOK if rule.severity == "error"]
    return policies(rules, EnforcementLevel.MANDATORY, today or datetime.now(UTC).date())


def advice(today: date | None = None) -> list[Policy]:
    """Return the policies of the advisory pack: warnings and information."""
    rules = [rule for rule in BOOK if rule.severity != "error"]
    return policies(rules, EnforcementLevel.ADVISORY, today or datetime.now(UTC).date())
