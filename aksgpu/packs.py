"""The CrossGuard policies: one for each rule of the book, in two packs.

A policy holds no rule of its own. It reads the resource into facts, asks its rule, and reports. Facts are read once for
each request of the engine, not once for each policy.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyComplianceFramework,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.plain import plain
from aksgpu.readers.pulumi_resources import PulumiResource, provider_cluster, read, reader_for
from aksgpu.rules.book import BOOK, judge
from aksgpu.rules.model import Finding, Rule

_SEVERITIES = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "info": Severity.LOW}


def guardrails() -> list[Policy]:
    """Return the policies of the mandatory pack: the rules of severity error."""
    return _policies((rule for rule in BOOK if rule.severity == "error"), EnforcementLevel.MANDATORY)


def advice() -> list[Policy]:
    """Return the policies of the advisory pack: warnings and information."""
    return _policies((rule for rule in BOOK if rule.severity != "error"), EnforcementLevel.ADVISORY)


def _policies(rules: Iterable[Rule], level: EnforcementLevel) -> list[Policy]:
    facts = _RequestFacts(_Asked())
    seen = (rule for rule in rules if rule.in_packs)
    return [_policy(rule, level, index, facts) for index, rule in enumerate(seen)]


def _policy(rule: Rule, level: EnforcementLevel, index: int, facts: "_RequestFacts") -> Policy:
    described: dict[str, Any] = {
        "name": rule.name,
        "description": rule.summary,
        "enforcement_level": level,
        "display_name": rule.id,
        "severity": _SEVERITIES[rule.severity],
        "framework": PolicyComplianceFramework(
            name="Azure Well-Architected Framework", specification=", ".join(rule.pillars), reference=rule.source
        ),
        "tags": ["aks", "gpu", rule.id],
        "remediation_steps": rule.fix,
    }
    if rule.across:
        return StackValidationPolicy(validate=partial(_check_stack, rule, index, facts), **described)
    return ResourceValidationPolicy(validate=partial(_check_resource, rule, index, facts), **described)


def _check_resource(
    rule: Rule, index: int, facts: "_RequestFacts", args: ResourceValidationArgs, report: ReportViolation
) -> None:
    if reader_for(args.resource_type) is not None:
        _report(judge(facts.of_resource(index, args), (rule,)), report)


def _check_stack(
    rule: Rule, index: int, facts: "_RequestFacts", args: StackValidationArgs, report: ReportViolation
) -> None:
    _report(judge(facts.of_stack(index, args), (rule,)), report)


class _UndecidedError(UnknownValueError):
    """Makes the SDK print an advisory for a mandatory policy; nothing else in it can."""

    def __init__(self, findings: list[Finding]) -> None:
        Exception.__init__(self)
        # The SDK's diagnostic names no resource, so the text does.
        self.message = " ".join(f"{_urn(finding)}: {finding.verdict.message}" for finding in findings)


def _report(findings: list[Finding], report: ReportViolation) -> None:
    """Report what is decided; say of the rest that it waits.

    The engine hands out unknown values in previews only: in an update a resource is not registered before its inputs
    are known. So what waits here is decided in the update, and lets nothing pass.
    """
    for finding in findings:
        if not finding.verdict.undecided:
            report(_message(finding), _urn(finding))
    waiting = [finding for finding in findings if finding.verdict.undecided]
    if waiting:
        raise _UndecidedError(waiting)


def _message(finding: Finding) -> str:
    rule = finding.rule
    return f"{finding.verdict.message}\nWhy: {rule.why}\nFix: {rule.fix}\nRule: {rule.id} {rule.name} ({rule.source})"


def _urn(finding: Finding) -> str:
    return finding.verdict.place.object


@dataclass
class _Latest:
    """The facts of the request that a thread works on."""

    index: int = -1
    urn: str = ""
    estate: Estate | None = None


class _RequestFacts(threading.local):
    """Reads the facts of a request once, for all policies of a pack.

    The SDK calls the policies of one request in one thread and in the order of the pack, and starts at the front for
    the next request. So a call belongs to the request of the call before it exactly when the thread and the resource
    are the same and the policy's index is higher. Nothing else tells requests apart: every policy gets its own copy of
    the properties.
    """

    def __init__(self, asked: "_Asked") -> None:
        self._asked = asked
        self._resource = _Latest()
        self._stack = _Latest()

    def of_resource(self, index: int, args: ResourceValidationArgs) -> Estate:
        """Return the facts of a resource's inputs."""
        latest = self._resource
        if args.urn != latest.urn or index <= latest.index or latest.estate is None:
            latest.estate = read(_resource(args))
            latest.urn = args.urn
            self._asked.remember(args.urn, latest.estate)
        latest.index = index
        return latest.estate

    def of_stack(self, index: int, args: StackValidationArgs) -> Estate:
        """Return the facts of all resources together."""
        latest = self._stack
        if index <= latest.index or latest.estate is None:
            latest.estate = _stack_estate(args.resources, self._asked)
        latest.index = index
        return latest.estate


class _Asked:
    """What resources asked for, by URN.

    Outputs, which are all that stack policies get, leave out where a resource belongs, and in a preview most of the
    rest. The inputs that the same run showed before are the better source.
    """

    def __init__(self) -> None:
        self._estates: dict[str, Estate] = {}
        self._lock = threading.Lock()

    def remember(self, urn: str, estate: Estate) -> None:
        with self._lock:
            self._estates[urn] = estate

    def of(self, resource: PolicyResource) -> Estate:
        with self._lock:
            found = self._estates.get(resource.urn)
        return found if found is not None else read(_resource(resource))


def _resource(args: ResourceValidationArgs | PolicyResource) -> PulumiResource:
    return PulumiResource(
        type=args.resource_type,
        urn=args.urn,
        props=plain(args.props, UnknownValueError),
        parent=args.opts.parent,
        cluster=_provider_cluster(args.provider.props) if args.provider is not None else ANY_CLUSTER,
    )


def _provider_cluster(props: Mapping[str, Any]) -> ClusterRef:
    try:
        return provider_cluster(props.get("clusterIdentifier"))
    except UnknownValueError:
        return provider_cluster(UNKNOWN)


def _stack_estate(resources: list[PolicyResource], asked: _Asked) -> Estate:
    estates = {item.urn: asked.of(item) for item in resources if reader_for(item.resource_type) is not None}
    clusters = {urn for urn, estate in estates.items() if estate.clusters}
    linked = (_link(item, estates[item.urn], clusters) for item in resources if item.urn in estates)
    return Estate.merge(linked)


def _link(resource: PolicyResource, estate: Estate, clusters: set[str]) -> Estate:
    """Point pools at the cluster that the program makes them depend on, for when its name isn't known yet."""
    if not estate.pools or estate.clusters:
        return estate
    sources = [*resource.dependencies, *(item for group in resource.property_dependencies.values() for item in group)]
    owners = {item.urn for item in sources if item.urn in clusters}
    if len(owners) != 1:
        return estate
    ref = ClusterRef(name=UNKNOWN, resource_group=UNKNOWN, object=owners.pop())
    pools = tuple(
        pool if isinstance(pool.cluster.name, str) else pool.model_copy(update={"cluster": ref})
        for pool in estate.pools
    )
    return estate.model_copy(update={"pools": pools})
