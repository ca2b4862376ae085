"""Reads what pods ask of GPUs, out of every kind of object that holds pod specs."""

from collections.abc import Iterator

from aksgpu.facts.base import Malformed, Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Selection, Toleration
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.facts.workloads import ContainerClaim, ContainerFacts, HostPath, Mount, PodClaim, Workload
from aksgpu.readers.fields import Fields
from aksgpu.readers.placement import read_selection, read_tolerations
from aksgpu.readers.pod_specs import CONTAINER_GROUPS, PodSpec, find, may_touch_gpus


def read_workloads(
    api_version: str,
    kind: str,
    built_in: bool,
    data: object,
    place: Place,
    cluster: ClusterRef,
) -> Estate:
    """Return a workload for each pod spec that may touch GPUs; an empty estate for any other object.

    `built_in` tells kinds of Kubernetes from custom resources, in which pod specs have to be searched.
    """
    found = [pod for pod in find(kind, built_in, data) if may_touch_gpus(pod.spec)]
    if not found:
        return Estate()
    metadata = Fields(data)
    name, namespace = metadata.text("metadata.name"), metadata.text("metadata.namespace")
    return Estate(
        workloads=tuple(
            _PodReader(pod).read(
                place=place, api_version=api_version, kind=kind, cluster=cluster, name=name, namespace=namespace
            )
            for pod in found
        )
    )


class _PodReader:
    """Reads one pod spec and collects what can't be read of it."""

    def __init__(self, pod: PodSpec) -> None:
        self._pod = pod
        self._spec = Fields(pod.spec, prefix=f"{pod.path}.")
        self._problems: list[Malformed] = []

    def read(
        self,
        *,
        place: Place,
        api_version: str,
        kind: str,
        cluster: ClusterRef,
        name: Maybe[str],
        namespace: Maybe[str],
    ) -> Workload:
        containers, claims, host_paths = self._containers(), self._claims(), self._host_paths()
        selection, tolerations = self._placement()
        replicas = self._replicas()
        node_name, runtime_class = self._spec.text("nodeName"), self._spec.text("runtimeClassName")
        return Workload(
            place=place,
            api_version=api_version,
            kind=kind,
            cluster=cluster,
            namespace=namespace,
            name=name,
            path=self._pod.path,
            replicas=replicas,
            containers=containers,
            claims=claims,
            host_paths=host_paths,
            node_name=node_name,
            runtime_class=runtime_class,
            selection=selection,
            tolerations=tolerations,
            malformed=(*self._spec.problems, *self._problems),
        )

    def _placement(self) -> tuple[Maybe[Selection], Maybe[tuple[Toleration, ...]]]:
        selection = read_selection(self._spec, "nodeSelector", "affinity")
        return selection, read_tolerations(self._spec, "tolerations")

    def _replicas(self) -> Maybe[int]:
        owner = Fields(self._pod.owner)
        replicas = owner.whole("replicas")
        return owner.whole("parallelism") if replicas is None else replicas

    def _parts(self, key: str) -> Iterator[tuple[str, Fields | None]]:
        """Yield path and view of each element of a list; None for an element that isn't known yet."""
        items = self._spec.items(key)
        if isinstance(items, Unknown):
            yield f"{self._pod.path}.{key}", None
            return
        for index, item in enumerate(items or []):
            path = f"{self._pod.path}.{key}[{index}]"
            if isinstance(item, Unknown):
                yield path, None
                continue
            part = Fields(item, prefix=f"{path}.")
            yield path, part
            self._problems += part.problems

    def _containers(self) -> Maybe[tuple[ContainerFacts, ...]]:
        found: list[ContainerFacts] = []
        complete = True
        for group in CONTAINER_GROUPS:
            for path, part in self._parts(group):
                if part is None:
                    complete = False
                else:
                    found.append(self._container(path, part, init=group == "initContainers"))
        return tuple(found) if complete else UNKNOWN

    def _container(self, path: str, part: Fields, *, init: bool) -> ContainerFacts:
        return ContainerFacts(
            path=path,
            name=part.text("name"),
            init=init,
            image=part.text("image"),
            resources=_extended_resources(part),
            claims=_container_claims(part, path),
            environment=_environment(part),
            mounts=_mounts(part),
            privileged=part.flag("securityContext.privileged"),
        )

    def _claims(self) -> Maybe[tuple[PodClaim, ...]]:
        found = [(path, part) for path, part in self._parts("resourceClaims")]
        claims = tuple(_pod_claim(path, part) for path, part in found if part is not None)
        return claims if len(claims) == len(found) else UNKNOWN

    def _host_paths(self) -> Maybe[tuple[HostPath, ...]]:
        found: list[HostPath] = []
        for path, part in self._parts("volumes"):
            if part is None:
                return UNKNOWN
            if part.raw("hostPath") is not None:
                found.append(HostPath(path=path, name=part.text("name"), host_path=part.text("hostPath.path")))
        return tuple(found)


def _pod_claim(path: str, part: Fields) -> PodClaim:
    return PodClaim(
        path=path,
        name=part.text("name"),
        claim=part.text("resourceClaimName"),
        template=part.text("resourceClaimTemplateName"),
    )


def _extended_resources(part: Fields) -> Maybe[dict[str, Maybe[str]]]:
    found: dict[str, Maybe[str]] = {}
    for group in ("resources.requests", "resources.limits"):
        quantities = part.group(group)
        if isinstance(quantities, Unknown):
            return UNKNOWN
        for name, quantity in (quantities or {}).items():
            if "/" in name and quantity is not None:
                found[name] = UNKNOWN if isinstance(quantity, Unknown) else _text(quantity)
    return found


def _text(quantity: object) -> str:
    """Write a quantity as Kubernetes does; Pulumi hands whole numbers on as floats."""
    return str(int(quantity)) if isinstance(quantity, float) and quantity.is_integer() else str(quantity)


def _container_claims(part: Fields, path: str) -> Maybe[tuple[ContainerClaim, ...]]:
    items = part.known_items("resources.claims")
    if isinstance(items, Unknown):
        return UNKNOWN
    views = [Fields(item, prefix=f"{path}.resources.claims[{index}].") for index, item in enumerate(items or [])]
    return tuple(ContainerClaim(name=view.text("name"), request=view.text("request")) for view in views)


def _environment(part: Fields) -> Maybe[dict[str, Maybe[str]]]:
    found: dict[str, Maybe[str]] = {}
    items = part.known_items("env")
    if isinstance(items, Unknown):
        return UNKNOWN
    for item in items or []:
        variable = Fields(item)
        name, value = variable.raw("name"), variable.raw("value")
        if isinstance(name, Unknown):
            return UNKNOWN
        if isinstance(name, str):
            from_elsewhere = isinstance(value, Unknown) or variable.raw("valueFrom") is not None
            found[name] = UNKNOWN if from_elsewhere else "" if value is None else str(value)
    return found


def _mounts(part: Fields) -> Maybe[tuple[Mount, ...]]:
    items = part.known_items("volumeMounts")
    if isinstance(items, Unknown):
        return UNKNOWN
    views = [Fields(item) for item in items or []]
    return tuple(Mount(volume=view.text("name"), path=view.text("mountPath")) for view in views)
