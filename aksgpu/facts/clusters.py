"""An AKS cluster, and how other things refer to one."""

from aksgpu.facts.base import Facts, Malformed, Place
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, equals


class ClusterRef(Facts):
    """What is known about the cluster that something belongs to."""

    name: Maybe[str] = UNKNOWN
    resource_group: Maybe[str] = UNKNOWN
    object: str | None = None
    """The URN of the cluster when the program's own dependencies name it; decides when names are unknown."""

    def __str__(self) -> str:
        return self.name if isinstance(self.name, str) else "a cluster whose name isn't known yet"


ANY_CLUSTER = ClusterRef(name=None, resource_group=None)
"""A cluster about which nothing was said."""


class ClusterFacts(Facts):
    """An AKS cluster as it is asked for or as it is."""

    place: Place
    name: Maybe[str] = None
    resource_group: Maybe[str] = None
    kubernetes_version: Maybe[str] = None
    """`1.35` or `1.35.4`; None lets AKS choose."""
    node_provisioning: Maybe[str] = None
    """`nodeProvisioningProfile.mode`: Manual (the default) or Auto."""
    support_plan: Maybe[str] = None
    """KubernetesOfficial (the default) or AKSLongTermSupport."""
    malformed: tuple[Malformed, ...] = ()

    @property
    def label(self) -> str:
        """The cluster in a sentence."""
        return f"cluster {self.name}" if isinstance(self.name, str) else "the cluster"

    def is_meant_by(self, ref: ClusterRef) -> Truth:
        """Tell whether `ref` means this cluster."""
        if ref.object is not None:
            return ref.object == self.place.object
        named = _same(ref.name, self.name)
        return False if named is False else all_of(named, _same(ref.resource_group, self.resource_group))


def _same(ours: Maybe[str], theirs: Maybe[str]) -> Truth:
    """Compare two names; one that was never written (a file that doesn't say) contradicts nothing."""
    if ours is None or theirs is None:
        return True
    return UNKNOWN if isinstance(theirs, Unknown) else equals(ours, theirs)


class ClusterChange(Facts):
    """One cluster before and after a change."""

    before: ClusterFacts
    after: ClusterFacts
