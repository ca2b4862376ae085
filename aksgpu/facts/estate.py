"""Everything that was read, as one value that rules are asked about."""

from collections.abc import Iterable, Iterator

from aksgpu.facts.base import Facts, Malformed, Place
from aksgpu.facts.clusters import ClusterFacts, ClusterRef
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.pools import PoolChange, PoolFacts
from aksgpu.facts.truth import Truth, Unknown


class Estate(Facts):
    """Clusters, their pools, and the GPU software in them. A single resource is an estate of one."""

    clusters: tuple[ClusterFacts, ...] = ()
    pools: tuple[PoolFacts, ...] = ()
    components: tuple[GpuComponent, ...] = ()
    changes: tuple[PoolChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.clusters or self.pools or self.components or self.changes)

    @classmethod
    def merge(cls, estates: "Iterable[Estate]") -> "Estate":
        """Join what several readings found."""
        parts = list(estates)
        return cls(
            clusters=tuple(item for part in parts for item in part.clusters),
            pools=tuple(item for part in parts for item in part.pools),
            components=tuple(item for part in parts for item in part.components),
            changes=tuple(item for part in parts for item in part.changes),
        )

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
        for item in (*self.clusters, *self.pools, *self.components):
            for value in item.malformed:
                yield item.place, value
