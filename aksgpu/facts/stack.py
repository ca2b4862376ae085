"""The values of NVIDIA's GPU stack: the charts of the second source document, as they would be installed."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from aksgpu.facts.base import Facts, Malformed, Place
from aksgpu.facts.clusters import ANY_CLUSTER, ClusterRef
from aksgpu.facts.truth import Maybe

ComponentName = Literal[
    "gpu-operator",
    "gpu-operator-ocp",
    "nvidia-dra-driver-gpu",
    "nvidia-dra-driver-gpu-ocp",
    "network-operator",
    "nodewright-customizations",
    "nvsentinel",
]


class StackComponent(Facts):
    """One chart and its effective values, read at the paths that rules ask for."""

    place: Place
    name: ComponentName
    enabled: Maybe[bool] = True
    flags: dict[str, Maybe[bool]] = Field(default_factory=dict)
    """Switches by dotted path; absent and null ones are not in it."""
    texts: dict[str, Maybe[str]] = Field(default_factory=dict)
    lists: dict[str, Maybe[tuple[object, ...]]] = Field(default_factory=dict)
    labels: dict[str, Maybe[dict[str, str]]] = Field(default_factory=dict)
    files: dict[str, str | None] = Field(default_factory=dict)
    """The file that has the last word about a path, where several have one; None for the command line."""
    nulls: tuple[str, ...] = ()
    """Paths at which null is written; Helm then takes the chart's own default away."""
    malformed: tuple[Malformed, ...] = ()
    """Values at those paths that can't be read; empty for a component that is disabled."""

    def at(self, path: str) -> Place:
        """Return the place of a value."""
        place = self.place.at(path)
        said = [file for known, file in self.files.items() if f"{known}.".startswith(f"{path}.")]
        return place.model_copy(update={"file": said[-1]}) if said else place

    def malformed_at(self, path: str) -> Malformed | None:
        """Return what could not be read at a path or on the way to it."""
        return next((item for item in self.malformed if f"{path}.".startswith(f"{item.path}.")), None)


class StackFacts(Facts):
    """The components that go into one cluster together."""

    place: Place
    cluster: ClusterRef = ANY_CLUSTER
    part_of: str | None = None
    """The object of the chart that made it."""
    components: tuple[StackComponent, ...] = ()
    advertiser: str = ""
    """Who else advertises whole GPUs: nothing, or `external`; any other word is a finding."""
    complete: bool = False
    """Whether these are all components that the cluster gets; a program may leave some to another program."""

    def each(self, change: Callable[[StackComponent], StackComponent]) -> "StackFacts":
        """Return the stack with every component changed."""
        return self.model_copy(update={"components": tuple(change(item) for item in self.components)})

    def component(self, name: ComponentName) -> StackComponent | None:
        """Return a component that is present, enabled or not."""
        return next((item for item in self.components if item.name == name), None)

    def enabled(self, *names: ComponentName) -> StackComponent | None:
        """Return the first of several components that is present and not switched off."""
        found = (self.component(name) for name in names)
        return next((item for item in found if item is not None and item.enabled is not False), None)


class StackChange(Facts):
    """One component before and after a change."""

    before: StackComponent
    after: StackComponent
