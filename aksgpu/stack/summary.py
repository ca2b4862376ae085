"""What Azure and Kubernetes report about a deployed stack. Nothing here comes from the program's own variables:
the configuration only says which names to look for."""

import re
from dataclasses import dataclass, field

from aksgpu.readers.azure import Azure
from aksgpu.readers.kube import Kube, Object
from aksgpu.settings import Settings

DRIVER = "gpu.nvidia.com"

_BUS_ID = re.compile(r"\b([0-9A-Fa-f]{8}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\b")
_BUS_ATTRIBUTE = "resource.kubernetes.io/pciBusID"
_LOG_LINES = 40


@dataclass(frozen=True)
class PoolSummary:
    """A node pool: what Azure accepted, and its nodes."""

    name: str
    accepted: dict[str, str | None]
    """provisioningState, osSku, driver, managementMode, driverMode; empty when there is no such pool."""
    node_names: tuple[str, ...]
    ready: int

    @property
    def good(self) -> bool:
        """Whether the pool is there, Succeeded, and all of its nodes are Ready."""
        return self.accepted.get("provisioningState") == "Succeeded" and len(self.node_names) == self.ready


@dataclass(frozen=True)
class SliceSummary:
    """A ResourceSlice."""

    driver: str
    resource_pool: str
    node: str
    devices: int


@dataclass(frozen=True)
class ClaimSummary:
    """A ResourceClaim and the devices it holds."""

    namespace: str
    name: str
    devices: tuple[str, ...]
    """`driver/resource pool/device`; none while nothing is allocated."""
    found: bool = True
    released: bool = False
    """Kubernetes takes the allocation back when the consuming pod is done. The devices are then those that the
    validation Job's log shows, found in the resource slices by their PCI bus id."""


@dataclass(frozen=True)
class JobSummary:
    """The validation Job."""

    namespace: str
    name: str
    state: str
    """Complete, Failed, Running or missing."""
    pod: str = ""
    node: str = ""
    log: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """All of it."""

    cluster: str
    version: str
    pools: tuple[PoolSummary, ...]
    slices: tuple[SliceSummary, ...]
    claims: tuple[ClaimSummary, ...]
    jobs: tuple[JobSummary, ...]
    problems: tuple[str, ...] = field(default=())

    @property
    def good(self) -> bool:
        """Whether everything that was asked for is there and works."""
        return not self.problems


def read(settings: Settings, azure: Azure) -> Summary:
    """Read what the stack's settings ask for, live."""
    where = settings.cluster.one
    cluster = azure.cluster(where.resource_group, where.name)
    if cluster is None:
        return Summary(where.name, "", (), (), (), (), (f"the cluster {where.name} does not exist",))
    kube = Kube(azure.kubeconfig(where.resource_group, where.name))
    live = {pool.facts.name: pool for pool in cluster.pools}
    pools = tuple(
        _pool(pool.name, live[pool.name].accepted() if pool.name in live else {}, kube.nodes(pool.name))
        for pool in settings.pools
    )
    jobs = (_job(kube, settings.validation.namespace, settings.validation.job),) if settings.validation else ()
    found = kube.resource_slices(DRIVER)
    seen = {
        (job.namespace, settings.validation.claim): _devices_in_log(job, found)
        for job in jobs
        if settings.validation is not None
    }
    claims = tuple(
        _claim(kube, space.name, claim.name, seen.get((space.name, claim.name), ()))
        for space in settings.namespaces
        for claim in space.claims
    )
    return Summary(
        cluster=where.name,
        version=str(cluster.facts.kubernetes_version),
        pools=pools,
        slices=tuple(_slice(one) for one in found),
        claims=claims,
        jobs=jobs,
        problems=_problems(pools, claims, jobs) + _silent(pools, found),
    )


def _problems(
    pools: tuple[PoolSummary, ...], claims: tuple[ClaimSummary, ...], jobs: tuple[JobSummary, ...]
) -> tuple[str, ...]:
    told = [f"the pool {pool.name} is not ready" for pool in pools if not pool.good]
    told += [f"the claim {claim.namespace}/{claim.name} does not exist" for claim in claims if not claim.found]
    told += [f"the job {job.namespace}/{job.name} is {job.state}" for job in jobs if job.state != "Complete"]
    return tuple(told)


def _silent(pools: tuple[PoolSummary, ...], slices: list[Object]) -> tuple[str, ...]:
    """Name the DRA pools with nodes of which none publishes a device."""
    publishing = {found["spec"].get("nodeName") for found in slices if found["spec"].get("devices")}
    return tuple(
        f"the pool {pool.name} publishes no GPU"
        for pool in pools
        if pool.accepted.get("driverMode") == "DRA" and pool.node_names and not publishing & set(pool.node_names)
    )


def _pool(name: str, accepted: dict[str, str | None], nodes: list[Object]) -> PoolSummary:
    ready = [node for node in nodes if _condition(node, "Ready")]
    return PoolSummary(name, accepted, tuple(node["metadata"]["name"] for node in nodes), len(ready))


def _condition(found: Object, kind: str) -> bool:
    return any(c["type"] == kind and c["status"] == "True" for c in found.get("status", {}).get("conditions", []))


def _slice(found: Object) -> SliceSummary:
    spec = found["spec"]
    return SliceSummary(
        driver=spec["driver"],
        resource_pool=spec["pool"]["name"],
        node=spec.get("nodeName", "-"),
        devices=len(spec.get("devices") or []),
    )


def _claim(kube: Kube, namespace: str, name: str, seen: tuple[str, ...]) -> ClaimSummary:
    found = kube.resource_claim(namespace, name)
    if found is None:
        return ClaimSummary(namespace, name, (), found=False)
    results = found.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    devices = tuple(f"{r['driver']}/{r['pool']}/{r['device']}" for r in results)
    return ClaimSummary(namespace, name, devices or seen, released=bool(seen and not devices))


def _devices_in_log(job: JobSummary, slices: list[Object]) -> tuple[str, ...]:
    """Return the devices of the Job's node whose PCI bus ids `nvidia-smi` printed."""
    # nvidia-smi writes the PCI domain with eight digits, the driver's attribute has four.
    printed = {f"{domain[-4:]}:{rest}".lower() for line in job.log for domain, rest in _BUS_ID.findall(line)}
    return tuple(
        f"{found['spec']['driver']}/{found['spec']['pool']['name']}/{device['name']}"
        for found in slices
        if found["spec"].get("nodeName") == job.node
        for device in found["spec"].get("devices") or []
        if str(device.get("attributes", {}).get(_BUS_ATTRIBUTE, {}).get("string", "")).lower() in printed
    )


def _job(kube: Kube, namespace: str, name: str) -> JobSummary:
    found = kube.job(namespace, name)
    if found is None:
        return JobSummary(namespace, name, "missing")
    state = next((kind for kind in ("Complete", "Failed") if _condition(found, kind)), "Running")
    pods = kube.job_pods(namespace, name)
    if not pods:
        return JobSummary(namespace, name, state)
    newest = max(pods, key=lambda pod: pod["metadata"]["creationTimestamp"])
    log = kube.log(namespace, newest["metadata"]["name"], _LOG_LINES)
    return JobSummary(
        namespace,
        name,
        state,
        newest["metadata"]["name"],
        newest["spec"].get("nodeName", ""),
        tuple(log.rstrip().splitlines()),
    )
