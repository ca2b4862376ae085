"""Pods and what makes them: what their containers ask for, and which nodes they accept."""

from aksgpu.facts.base import Facts, Malformed, Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.nodes import Selection, Toleration
from aksgpu.facts.truth import Maybe, known


class ContainerClaim(Facts):
    """An entry of a container's `resources.claims`."""

    name: Maybe[str] = None
    request: Maybe[str] = None


class Mount(Facts):
    """An entry of a container's `volumeMounts`."""

    volume: Maybe[str] = None
    path: Maybe[str] = None


class ContainerFacts(Facts):
    """One container of a pod."""

    path: str
    """Where it is in the object: `spec.template.spec.containers[0]`."""
    name: Maybe[str] = None
    init: bool = False
    image: Maybe[str] = None
    resources: Maybe[dict[str, Maybe[str]]] = None
    """Extended resources (names with a slash) of limits and requests together, quantities as text."""
    claims: Maybe[tuple[ContainerClaim, ...]] = ()
    environment: Maybe[dict[str, Maybe[str]]] = None
    """Variables by name; `UNKNOWN` for a value that comes from elsewhere."""
    mounts: Maybe[tuple[Mount, ...]] = ()
    privileged: Maybe[bool] = None


class PodClaim(Facts):
    """An entry of a pod's `resourceClaims`."""

    path: str
    name: Maybe[str] = None
    claim: Maybe[str] = None
    """`resourceClaimName`."""
    template: Maybe[str] = None
    """`resourceClaimTemplateName`."""


class HostPath(Facts):
    """A volume of a pod that is a path of the node."""

    path: str
    """Where it is in the object: `spec.volumes[0]`."""
    name: Maybe[str] = None
    host_path: Maybe[str] = None


class Workload(Facts):
    """One pod template, or a pod. An object with several templates is several workloads at the same place."""

    place: Place
    api_version: str
    kind: str
    cluster: ClusterRef = ANY_CLUSTER
    namespace: Maybe[str] = None
    name: Maybe[str] = None
    path: str
    """Where its pod spec is in the object: `spec.template.spec`."""
    replicas: Maybe[int] = None
    """Pods at the same time; None when the object doesn't say."""
    containers: Maybe[tuple[ContainerFacts, ...]] = ()
    """Init containers too."""
    claims: Maybe[tuple[PodClaim, ...]] = ()
    host_paths: Maybe[tuple[HostPath, ...]] = ()
    node_name: Maybe[str] = None
    runtime_class: Maybe[str] = None
    selection: Maybe[Selection] = Selection()
    tolerations: Maybe[tuple[Toleration, ...]] = ()
    malformed: tuple[Malformed, ...] = ()

    @property
    def label(self) -> str:
        """The object in a sentence."""
        if self.place.file:
            return self.place.object
        return f"{self.kind} {self.name if known(self.name) and self.name else self.place.object}"
