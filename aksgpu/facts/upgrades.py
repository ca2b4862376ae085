"""What Azure reports about the versions of a live cluster, and where they can go."""

from aksgpu.facts.base import Facts


class Available(Facts):
    """A version that Azure would accept now."""

    version: str
    preview: bool = False


class Offered(Facts):
    """A patch version that AKS offers in the cluster's region."""

    version: str
    preview: bool = False
    support_plans: tuple[str, ...] = ("KubernetesOfficial", "AKSLongTermSupport")
    upgrades: tuple[str, ...] = ()
    """The versions that a control plane on this one can go to."""


class UpgradeSettings(Facts):
    """How the nodes of a pool are replaced; the defaults are those of the AKS API."""

    max_surge: str = "10%"
    """A number of nodes or a percentage."""
    max_unavailable: str = "0"
    drain_timeout: int = 30
    """Minutes a node may take to drain."""
    soak: int = 0
    """Minutes to wait after each node."""


class PoolVersion(Facts):
    """A node pool as its upgrade sees it."""

    name: str
    version: str
    count: int
    mode: str = "User"
    vm_size: str = ""
    provisioning_state: str = "Succeeded"
    settings: UpgradeSettings = UpgradeSettings()
    upgrades: tuple[Available, ...] = ()


class ClusterVersions(Facts):
    """A cluster as its upgrade sees it."""

    subscription: str
    resource_group: str
    name: str
    location: str
    version: str
    """Of the control plane."""
    support_plan: str = "KubernetesOfficial"
    channel: str = "none"
    """The cluster's auto-upgrade channel."""
    provisioning_state: str = "Succeeded"
    upgrades: tuple[Available, ...] = ()
    pools: tuple[PoolVersion, ...] = ()
    offered: tuple[Offered, ...] = ()
