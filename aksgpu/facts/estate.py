"""Everything that was read, as one value that rules are asked about."""

from collections.abc import Iterable, Iterator
from datetime import date
from functools import cached_property
from typing import Any

from aksgpu.facts.base import Facts
from aksgpu.facts.claims import ClaimFacts, DeviceClassFacts, QuotaFacts
from aksgpu.facts.clusters import ClusterChange, ClusterFacts, ClusterRef
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.nearby import Nearby
from aksgpu.facts.pools import PoolChange, PoolFacts
from aksgpu.facts.stack import StackChange, StackFacts
from aksgpu.facts.truth import Truth, Unknown
from aksgpu.facts.workloads import Workload


class Estate(Facts):
    """Clusters, their pools, what runs in them and what it asks for. A single resource is an estate of one."""

    clusters: tuple[ClusterFacts, ...] = ()
    pools: tuple[PoolFacts, ...] = ()
    components: tuple[GpuComponent, ...] = ()
    stacks: tuple[StackFacts, ...] = ()
    workloads: tuple[Workload, ...] = ()
    claims: tuple[ClaimFacts, ...] = ()
    device_classes: tuple[DeviceClassFacts, ...] = ()
    quotas: tuple[QuotaFacts, ...] = ()
    changes: tuple[PoolChange, ...] = ()
    cluster_changes: tuple[ClusterChange, ...] = ()
    stack_changes: tuple[StackChange, ...] = ()
    today: date | None = None
    """The day on which support windows are judged; None judges none."""

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _PARTS)

    @classmethod
    def merge(cls, estates: "Iterable[Estate]") -> "Estate":
        """Join what several readings found."""
        parts = list(estates)
        if len(parts) == 1:
            return parts[0]
        # Every part is an estate, so its facts have been checked already.
        joined: dict[str, Any] = {
            name: tuple(item for part in parts for item in getattr(part, name)) for name in _PARTS
        }
        today = next((part.today for part in reversed(parts) if part.today), None)
        return cls.model_construct(None, today=today, **joined)

    def with_clusters(self, clusters: tuple[ClusterFacts, ...]) -> "Estate":
        """Return the same estate with other clusters. (A copy by pydantic would keep the indexes of the old ones.)"""
        facts: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_construct(None, **{**facts, "clusters": clusters})

    def clusters_of(self, ref: ClusterRef) -> Iterator[tuple[ClusterFacts, Truth]]:
        """Yield the clusters that `ref` means, or may mean when names are not known yet."""
        # The object of a reference decides whatever the names say.
        candidates = self.clusters if ref.object is not None else self._clusters_nearby.of(ref)
        for cluster in candidates:
            meant = cluster.is_meant_by(ref)
            if isinstance(meant, Unknown) or meant:
                yield cluster, meant

    def pools_near(self, ref: ClusterRef) -> tuple[PoolFacts, ...]:
        """Return the pools that may be in a cluster."""
        return self._pools_nearby.of(ref)

    def components_near(self, ref: ClusterRef) -> tuple[GpuComponent, ...]:
        """Return the distinct GPU software that may be in a cluster."""
        return self._components_nearby.of(ref)

    def claims_near(self, ref: ClusterRef) -> tuple[ClaimFacts, ...]:
        """Return the claims and templates that may be in a cluster."""
        return self._claims_nearby.of(ref)

    def claims_called(self, name: str) -> tuple[ClaimFacts, ...]:
        """Return the claims and templates of a name."""
        return tuple(self._claims_by_name.get(name, ()))

    def stacks_near(self, ref: ClusterRef) -> tuple[StackFacts, ...]:
        """Return the stacks of charts that may be in a cluster."""
        return self._stacks_nearby.of(ref)

    @cached_property
    def _stacks_nearby(self) -> Nearby[StackFacts]:
        return Nearby(self.stacks, lambda stack: stack.cluster.name)

    @cached_property
    def _clusters_nearby(self) -> Nearby[ClusterFacts]:
        return Nearby(self.clusters, lambda cluster: cluster.name)

    @cached_property
    def _pools_nearby(self) -> Nearby[PoolFacts]:
        return Nearby(self.pools, lambda pool: pool.cluster.name)

    @cached_property
    def _components_nearby(self) -> Nearby[GpuComponent]:
        return Nearby(self.distinct_components(), lambda component: component.cluster.name)

    @cached_property
    def _claims_nearby(self) -> Nearby[ClaimFacts]:
        return Nearby(self.claims, lambda claim: claim.cluster.name)

    @cached_property
    def _claims_by_name(self) -> dict[str, list[ClaimFacts]]:
        found: dict[str, list[ClaimFacts]] = {}
        for claim in self.claims:
            if isinstance(claim.name, str):
                found.setdefault(claim.name, []).append(claim)
        return found

    def distinct_components(self) -> Iterator[GpuComponent]:
        """Yield the GPU software once: a chart whose own objects are here too is left out in their favour."""
        made = {(component.part_of, component.product) for component in self.components}
        for component in self.components:
            if (component.place.object, component.product) not in made:
                yield component


_PARTS = tuple(name for name in Estate.model_fields if name != "today")
