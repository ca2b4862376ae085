"""What a workload asks of GPUs, and which pools can give it."""

from dataclasses import dataclass

from aksgpu.facts.claims import ClaimFacts, DeviceRequest
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, any_of, is_true, not_, one_of
from aksgpu.facts.workloads import PodClaim, Workload
from aksgpu.knowledge import gpu_software
from aksgpu.rules.placement import lands_on, same_cluster


def asks_device_plugin(workload: Workload) -> Truth:
    """Tell whether a workload asks for GPUs as extended resources, which only a device plugin hands out."""
    if isinstance(workload.containers, Unknown):
        return UNKNOWN
    return any_of(*(_extended(container.resources) for container in workload.containers or ()))


def _extended(resources: Maybe[dict[str, Maybe[str]]]) -> Truth:
    if isinstance(resources, Unknown):
        return UNKNOWN
    return any(
        key.startswith(gpu_software.EXTENDED_RESOURCES) and quantity != "0"
        for key, quantity in (resources or {}).items()
    )


def asks_dra(workload: Workload, estate: Estate) -> Truth:
    """Tell whether a workload claims GPUs; a claim that isn't among the facts counts as none."""
    if isinstance(workload.claims, Unknown):
        return UNKNOWN
    return any_of(*(_claims_gpus(claim, workload, estate) for claim in workload.claims or ()))


def _claims_gpus(claim: PodClaim, workload: Workload, estate: Estate) -> Truth:
    wanted = (("ResourceClaim", claim.claim), ("ResourceClaimTemplate", claim.template))
    found = (
        item
        for kind, name in wanted
        if isinstance(name, str)
        for item in estate.claims_called(name)
        if item.kind == kind
        and item.namespace == workload.namespace
        and same_cluster(workload.cluster, item.cluster, estate) is not False
    )
    return any_of(*(_is_for_gpus(item, estate) for item in found))


def _is_for_gpus(claim: ClaimFacts, estate: Estate) -> Truth:
    if isinstance(claim.requests, Unknown):
        return UNKNOWN
    requests = (part for request in claim.requests or () for part in (request, *request.alternatives))
    return any_of(*(is_gpu_class(request, estate) for request in requests))


def is_gpu_class(request: DeviceRequest, estate: Estate) -> Truth:
    """Tell whether a request is for GPUs; a class that nobody knows counts as one of other devices."""
    known = one_of(request.device_class, gpu_software.DEVICE_CLASSES)
    if not isinstance(request.device_class, str) or known is True:
        return known
    classes = (item for item in estate.device_classes if item.name == request.device_class)
    return any_of(*(_selects_gpus(item.selectors) for item in classes))


def _selects_gpus(selectors: Maybe[tuple[str, ...]]) -> Truth:
    if isinstance(selectors, Unknown):
        return UNKNOWN
    return any(gpu_software.DRA_DRIVER_NAME in expression for expression in selectors or ())


@dataclass(frozen=True)
class Offer:
    """How the GPUs of a pool are handed out."""

    device_plugin: Truth
    dra: Truth


def offer(pool: PoolFacts, estate: Estate) -> Offer:
    """Return how a GPU pool's GPUs are handed out.

    Nothing may be known of what hands out those of a pool that AKS doesn't manage: another program may install it.
    Then both count as there.
    """
    managed = any_of(pool.is_managed(), pool.asks_for_dra())
    landing = [(item, lands_on(item, pool, estate)) for item in estate.distinct_components()]
    own = Offer(
        any_of(*(all_of(is_true(item.enabled), is_true(item.device_plugin), lands) for item, lands in landing)),
        any_of(*(all_of(is_true(item.enabled), is_true(item.dra), lands) for item, lands in landing)),
    )
    if own == Offer(device_plugin=False, dra=False):
        own = Offer(device_plugin=True, dra=True)
    dra = pool.asks_for_dra()
    return Offer(
        any_of(all_of(managed, not_(dra)), all_of(not_(managed), own.device_plugin)),
        any_of(dra, all_of(not_(managed), own.dra)),
    )
