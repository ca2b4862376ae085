"""Makes a policy of each rule. A policy holds no rule of its own: it asks for facts, asks its rule, and reports."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyComplianceFramework,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from aksgpu.packs.exemptions import SCHEMA, Exemption, Exemptions, read_exemptions
from aksgpu.packs.request_facts import Asked, RequestFacts
from aksgpu.readers.pulumi_resources import reader_for
from aksgpu.rules.book import judge
from aksgpu.rules.model import Finding, Rule

_SEVERITIES = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "info": Severity.LOW}

EXEMPTED = "exempted-findings"
"""The policy that says what exemptions cover in single resources."""
EXEMPTED_ACROSS = "exempted-findings-across"
"""The same for rules that look across resources."""


def policies(rules: Iterable[Rule], level: EnforcementLevel, today: date) -> list[Policy]:
    """Return a policy for each rule that a pack can judge, and those that report exempted findings."""
    facts = RequestFacts(today, Asked())
    judged = [_RulePolicy(rule, index, facts, today) for index, rule in enumerate(r for r in rules if r.in_packs)]
    # They come last, so that a request's exempted findings are all there.
    return [*(policy.policy(level) for policy in judged), *_exempted_policies(facts)]


@dataclass
class _RulePolicy:
    rule: Rule
    index: int
    """Its place in the pack, by which requests are told apart."""
    facts: RequestFacts
    today: date
    config: Mapping[str, Any] = field(default_factory=dict)
    """The configuration that `exemptions` was read from."""
    exemptions: Exemptions = field(default_factory=Exemptions)

    def policy(self, level: EnforcementLevel) -> Policy:
        rule = self.rule
        described: dict[str, Any] = {
            "name": rule.name,
            "description": rule.summary,
            "enforcement_level": level,
            "config_schema": PolicyConfigSchema(SCHEMA),
            "display_name": rule.id,
            "severity": _SEVERITIES[rule.severity],
            "framework": PolicyComplianceFramework(
                name="Azure Well-Architected Framework", specification=", ".join(rule.pillars), reference=rule.source
            ),
            "tags": ["aks", "gpu", rule.id],
            "remediation_steps": rule.fix,
        }
        if rule.across:
            return StackValidationPolicy(validate=self.check_stack, **described)
        return ResourceValidationPolicy(validate=self.check_resource, **described)

    def check_resource(self, args: ResourceValidationArgs, report: ReportViolation) -> None:
        self._configure(args.get_config(), report)
        if reader_for(args.resource_type) is not None:
            self._report(judge(self.facts.of_resource(self.index, args), (self.rule,)), report)

    def check_stack(self, args: StackValidationArgs, report: ReportViolation) -> None:
        self._configure(args.get_config(), report)
        self._report(judge(self.facts.of_stack(self.index, args), (self.rule,)), report)

    def _configure(self, config: Mapping[str, Any], report: ReportViolation) -> None:
        """Read the exemptions at first use; what is wrong with them is a violation, whatever else is found."""
        if config == self.config:
            return
        self.exemptions = read_exemptions(self.rule.name, config)
        self.config = config
        for problem in self.exemptions.problems:
            report(problem, None)

    def _report(self, findings: list[Finding], report: ReportViolation) -> None:
        """Report what is decided; say of the rest that it waits.

        The engine hands out unknown values in previews only: in an update a resource is not registered before its
        inputs are known. So what waits here is decided in the update, and lets nothing pass.
        """
        waiting = []
        for finding in findings:
            exemption = self.exemptions.of(_urn(finding), self.today)
            if exemption is not None and exemption.holds(self.today):
                self.facts.exempted(across=self.rule.across).append((_exempted(finding, exemption), _urn(finding)))
            elif finding.verdict.undecided:
                waiting.append(finding)
            else:
                report(_message(finding, exemption), _urn(finding))
        if waiting:
            raise _UndecidedError(waiting)


class _UndecidedError(UnknownValueError):
    """Makes the SDK print an advisory for a mandatory policy; nothing else in it can."""

    def __init__(self, findings: list[Finding]) -> None:
        Exception.__init__(self)
        # The SDK's diagnostic names no resource, so the text does.
        self.message = " ".join(f"{_urn(finding)}: {finding.verdict.message}" for finding in findings)


def _exempted_policies(facts: RequestFacts) -> list[Policy]:
    def resource(_: ResourceValidationArgs, report: ReportViolation) -> None:
        _drain(facts, report, across=False)

    def stack(_: StackValidationArgs, report: ReportViolation) -> None:
        _drain(facts, report, across=True)

    described: dict[str, Any] = {
        "description": "What is exempted is still reported.",
        "enforcement_level": EnforcementLevel.ADVISORY,
        "severity": Severity.LOW,
        "tags": ["aks", "gpu"],
        "remediation_steps": "Mend what the rule found, then take the exemption out of the configuration.",
    }
    return [
        ResourceValidationPolicy(name=EXEMPTED, validate=resource, **described),
        StackValidationPolicy(name=EXEMPTED_ACROSS, validate=stack, **described),
    ]


def _drain(facts: RequestFacts, report: ReportViolation, *, across: bool) -> None:
    findings = facts.exempted(across=across)
    for message, urn in findings:
        report(message, urn)
    findings.clear()


def _exempted(finding: Finding, exemption: Exemption) -> str:
    rule = finding.rule
    until = f"Exempted until {exemption.expires} ({exemption.reason}), by the pattern {exemption.urn}"
    return f"{rule.id} {rule.name}: {finding.verdict.message}\n{until}"


def _message(finding: Finding, expired: Exemption | None) -> str:
    rule = finding.rule
    text = f"{finding.verdict.message}\nWhy: {rule.why}\nFix: {rule.fix}\nRule: {rule.id} {rule.name} ({rule.source})"
    if expired is not None:
        text += f"\nIts exemption ({expired.reason}) expired on {expired.expires} and no longer holds."
    return text


def _urn(finding: Finding) -> str:
    return finding.verdict.place.object
