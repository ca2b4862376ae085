"""Reads the facts of a request of the engine once, not once for each policy."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pulumi_policy import PolicyResource, ResourceValidationArgs, StackValidationArgs
from pulumi_policy.proxy import UnknownValueError

from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers.linking import link
from aksgpu.readers.plain import plain
from aksgpu.readers.pulumi_resources import PulumiResource, provider_cluster, read, reader_for


@dataclass
class _Latest:
    """The request that a thread works on."""

    index: int = -1
    urn: str = ""
    estate: Estate | None = None
    exempted: list[tuple[str, str]] = field(default_factory=list)
    """Messages and URNs of the findings that exemptions cover."""


class RequestFacts(threading.local):
    """The facts of a request, for all policies of a pack.

    The SDK calls the policies of one request in one thread and in the order of the pack, and starts at the front for
    the next request. So a call belongs to the request of the call before it exactly when the thread and the resource
    are the same and the policy's index is higher. Nothing else tells requests apart: every policy gets its own copy of
    the properties.
    """

    def __init__(self, today: date, asked: "Asked") -> None:
        # threading.local runs this anew in each thread, with the same arguments.
        self._today = today
        self._asked = asked
        self._resource = _Latest()
        self._stack = _Latest()

    def of_resource(self, index: int, args: ResourceValidationArgs) -> Estate:
        """Return the facts of a resource's inputs."""
        latest = self._resource
        if args.urn != latest.urn or index <= latest.index or latest.estate is None:
            latest.estate = self._dated(read(_resource(args)))
            latest.urn = args.urn
            self._asked.remember(args.urn, latest.estate)
        latest.index = index
        return latest.estate

    def of_stack(self, index: int, args: StackValidationArgs) -> Estate:
        """Return the facts of all resources together."""
        latest = self._stack
        if index <= latest.index or latest.estate is None:
            latest.estate = self._dated(_stack_estate(args.resources, self._asked))
        latest.index = index
        return latest.estate

    def exempted(self, *, across: bool) -> list[tuple[str, str]]:
        """Return the exempted findings so far: message and URN; whoever reports them empties the list."""
        return (self._stack if across else self._resource).exempted

    def _dated(self, estate: Estate) -> Estate:
        return estate.model_copy(update={"today": self._today})


class Asked:
    """What resources asked for, by URN.

    Outputs, which are all that stack policies get, leave out where a resource belongs, and in a preview most of the
    rest. The inputs that the same run showed before are the better source.
    """

    def __init__(self) -> None:
        self._estates: dict[str, Estate] = {}
        self._lock = threading.Lock()

    def remember(self, urn: str, estate: Estate) -> None:
        """Keep the facts in a resource's inputs."""
        with self._lock:
            self._estates[urn] = estate

    def of(self, resource: PolicyResource) -> Estate:
        """Return the facts in a resource's inputs; in its outputs when the inputs were not shown."""
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


def _stack_estate(resources: list[PolicyResource], asked: Asked) -> Estate:
    estates = {item.urn: asked.of(item) for item in resources if reader_for(item.resource_type) is not None}
    clusters = {urn for urn, estate in estates.items() if estate.clusters}
    linked = (link(estates[item.urn], _dependencies(item), clusters) for item in resources if item.urn in estates)
    return Estate.merge(linked)


def _dependencies(resource: PolicyResource) -> Iterator[str]:
    groups = (resource.dependencies, *resource.property_dependencies.values())
    return (item.urn for group in groups for item in group)
