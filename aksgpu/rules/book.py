"""The rule book. Everything that judges asks here: components, policy packs, commands."""

from collections.abc import Iterable

from aksgpu.errors import AksgpuError
from aksgpu.facts.estate import Estate
from aksgpu.rules import (
    allocation,
    allocation_values,
    cel,
    cel_memory,
    changes,
    claim_references,
    claims,
    dra_versions,
    driver_pools,
    driver_values,
    host,
    isolation,
    mig,
    operator_couplings,
    ownership,
    pool_advice,
    pool_settings,
    pools,
    reach,
    readability,
    skew,
    version_changes,
    versions,
    workloads,
)
from aksgpu.rules.model import Finding, Rule

BOOK: tuple[Rule, ...] = tuple(
    sorted(
        (
            *readability.RULES,
            *versions.RULES,
            *version_changes.RULES,
            *skew.RULES,
            *pools.RULES,
            *pool_settings.RULES,
            *mig.RULES,
            *pool_advice.RULES,
            *changes.RULES,
            *claims.RULES,
            *cel.RULES,
            *cel_memory.RULES,
            *dra_versions.RULES,
            *allocation.RULES,
            *reach.RULES,
            *allocation_values.RULES,
            *ownership.RULES,
            *driver_values.RULES,
            *driver_pools.RULES,
            *operator_couplings.RULES,
            *host.RULES,
            *workloads.RULES,
            *claim_references.RULES,
            *isolation.RULES,
        ),
        key=lambda rule: rule.id,
    )
)


class RuleError(AksgpuError, ValueError):
    """Rules of severity error are broken; the text is one paragraph per finding."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("\n".join(finding.paragraph() for finding in findings))
        self.findings = findings


def rule(name_or_id: str) -> Rule | None:
    """Find a rule by id or name, without regard to case."""
    wanted = name_or_id.casefold()
    return next((entry for entry in BOOK if wanted in (entry.id.casefold(), entry.name)), None)


def judge(estate: Estate, rules: Iterable[Rule] = BOOK) -> list[Finding]:
    """Return what the rules find, in the order of file, line, rule."""
    findings = [Finding(entry, verdict) for entry in rules for verdict in entry.check(estate)]
    return sorted(findings, key=in_order)


def refuse_errors(estate: Estate, rules: Iterable[Rule] = BOOK) -> list[Finding]:
    """Return warnings and information; raise RuleError when a rule of severity error is broken.

    What isn't decided yet never raises: in a preview the policy pack says so, and in an update everything is known.
    """
    findings = judge(estate, rules)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise RuleError(errors)
    return findings


def in_order(finding: Finding) -> tuple[str, int, str, str]:
    """Return what findings are sorted by: file, line, rule."""
    place = finding.verdict.place
    return (place.file or "", place.line or 0, finding.rule.id, place.object)
