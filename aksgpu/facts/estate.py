"""Everything that was read, as one value that rules are asked about."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from aksgpu.facts.base import Facts, Malformed, Place
from aksgpu.facts.claims import ClaimFacts, DeviceClassFacts, QuotaFacts
from aksgpu.facts.clusters import ClusterChange, ClusterFacts, ClusterRef
from aksgpu.facts.components import GpuComponent
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
        # Every part is an estate, so its facts have been checked already.
        joined: dict[str, Any] = {
            name: tuple(item for part in parts for item in getattr(part, name)) for name in _PARTS
        }
        today = next((part.today for part in reversed(parts) if part.today), None)
        return cls.model_construct(None, today=today, **joined)

    def clusters_of(self, ref: ClusterRef) -> Iterator[tuple[ClusterFacts, Truth]]:
        """Yield the clusters that `ref` means, or may mean when names are not known yet."""
        for cluster in self.clusters:
            meant = cluster.is_meant_by(ref)
            if isinstance(meant, Unknown) or meant:
                yield cluster, meant

    def distinct_components(self) -> Iterator[GpuComponent]:
        """Yield the GPU software once: a chart whose own objects are here too is left out in their favour."""
        made = {(component.part_of, component.product) for component in self.components}
        for component in self.components:
            if (component.place.object, component.product) not in made:
                yield component

    def malformed(self) -> Iterator[tuple[Place, Malformed]]:
        """Yield every value that could not be read."""
        for item in (
            *self.clusters,
            *self.pools,
            *self.components,
            *self.workloads,
            *self.claims,
            *self.device_classes,
            *self.quotas,
        ):
            for value in item.malformed:
                yield item.place, value


_PARTS = tuple(name for name in Estate.model_fields if name != "today")
