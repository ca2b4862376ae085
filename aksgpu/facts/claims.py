"""Objects of dynamic resource allocation: device classes, claims and their templates; and quotas over them."""

from typing import Literal

from aksgpu.facts.base import Facts, Malformed, Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.truth import UNKNOWN, Maybe


class DeviceRequest(Facts):
    """One request of a claim, or one of its alternatives (`firstAvailable`)."""

    path: str
    """Where its fields are in the object: `spec.devices.requests[0].exactly`."""
    name: Maybe[str] = None
    device_class: Maybe[str] = None
    allocation_mode: Maybe[str] = None
    """ExactCount (the default) or All."""
    count: Maybe[int] = None
    selectors: Maybe[tuple[str, ...]] = ()
    """CEL expressions."""
    fields: tuple[str, ...] = ()
    """The names of all fields that were written, for rules about fields that a server drops."""
    alternatives: tuple["DeviceRequest", ...] = ()


class ClaimFacts(Facts):
    """A ResourceClaim or a ResourceClaimTemplate."""

    place: Place
    kind: Literal["ResourceClaim", "ResourceClaimTemplate"]
    api_version: str
    """With the group: `resource.k8s.io/v1`."""
    cluster: ClusterRef = ANY_CLUSTER
    namespace: Maybe[str] = None
    name: Maybe[str] = None
    requests: Maybe[tuple[DeviceRequest, ...]] = ()
    fields: tuple[str, ...] = ()
    """Written paths below `spec.devices` outside the requests: `constraints[0].distinctAttribute`."""
    malformed: tuple[Malformed, ...] = ()


class DeviceClassFacts(Facts):
    """A DeviceClass."""

    place: Place
    api_version: str
    cluster: ClusterRef = ANY_CLUSTER
    name: Maybe[str] = None
    selectors: Maybe[tuple[str, ...]] = ()
    extended_resource_name: Maybe[str] = None
    malformed: tuple[Malformed, ...] = ()


class QuotaFacts(Facts):
    """A ResourceQuota."""

    place: Place
    cluster: ClusterRef = ANY_CLUSTER
    namespace: Maybe[str] = None
    name: Maybe[str] = None
    hard: Maybe[dict[str, str]] = UNKNOWN
    """Limits by resource name, values as written."""
    malformed: tuple[Malformed, ...] = ()
