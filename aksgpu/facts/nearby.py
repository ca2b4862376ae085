"""Finds what may be in the same cluster without comparing everything with everything."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.truth import Maybe

T = TypeVar("T")


class Nearby(Generic[T]):
    """Things by the name of their cluster; those whose cluster has no known name may be anywhere."""

    def __init__(self, items: Iterable[T], cluster_name: Callable[[T], Maybe[str]]) -> None:
        self._all = tuple(items)
        self._anywhere: list[tuple[int, T]] = []
        self._named: dict[str, list[tuple[int, T]]] = {}
        for entry in enumerate(self._all):
            name = cluster_name(entry[1])
            group = self._named.setdefault(name.casefold(), []) if isinstance(name, str) else self._anywhere
            group.append(entry)

    def of(self, ref: ClusterRef) -> tuple[T, ...]:
        """Return what may be in the cluster that is meant, in its old order; whoever asks still has to compare."""
        if not isinstance(ref.name, str):
            return self._all
        found = [*self._named.get(ref.name.casefold(), ()), *self._anywhere]
        return tuple(item for _, item in sorted(found, key=lambda entry: entry[0]))
