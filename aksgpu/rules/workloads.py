"""AKSGPU60x and 61x: pods that ask for GPUs in a way that can't work, or not as meant."""

from collections.abc import Iterator

from aksgpu.facts.estate import Estate
from aksgpu.facts.namespaces import effective
from aksgpu.facts.nodes import Toleration
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, any_of, known, not_
from aksgpu.facts.workloads import ContainerClaim, ContainerFacts, Workload
from aksgpu.knowledge.gpu_software import EXTENDED_RESOURCES
from aksgpu.rules.checks import FAILS_OR_WAITS
from aksgpu.rules.demand import asks_device_plugin
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import same_cluster
from aksgpu.rules.pods import container_name, decided, each_container, each_workload, in_system_namespace

_ARTICLE = "Microsoft Learn: Use DRA for NVIDIA GPUs in AKS (preview), Run a GPU workload"
_API = "kubernetes.io: Dynamic Resource Allocation; Kubernetes API, PodSpec.resourceClaims"
_HEALTH = "node.kubernetes.io/"


def _extended(container: ContainerFacts) -> Truth:
    if isinstance(container.resources, Unknown):
        return UNKNOWN
    asked = ((name, quantity) for name, quantity in (container.resources or {}).items())
    return any_of(*(UNKNOWN if quantity is UNKNOWN else quantity != "0" for name, quantity in asked if _is_gpu(name)))


def _is_gpu(name: str) -> bool:
    return name.startswith(EXTENDED_RESOURCES)


def _has_claims(container: ContainerFacts) -> Truth:
    return UNKNOWN if isinstance(container.claims, Unknown) else bool(container.claims)


def _both(workload: Workload, container: ContainerFacts) -> tuple[Truth, str]:
    names = ", ".join(str(claim.name) for claim in _claims(container))
    gpus = ", ".join(name for name in container.resources or {} if _is_gpu(name)) if known(container.resources) else ""
    text = f"{container_name(container).capitalize()} of {workload.label} uses the claim {names} and asks for {gpus}."
    return all_of(_has_claims(container), _extended(container)), text


def _claims(container: ContainerFacts) -> tuple[ContainerClaim, ...]:
    return container.claims if isinstance(container.claims, tuple) else ()


CLAIM_AND_EXTENDED_RESOURCE = Rule(
    id="AKSGPU601",
    name="claim-and-extended-resource",
    severity="error",
    summary="A container asks for its GPU once: by a claim, or as nvidia.com/gpu.",
    why=(
        "The two are counted apart, so the container asks for two GPUs; and since no node hands out GPUs in both ways, "
        "its pod stays pending for ever."
    ),
    fix="Remove nvidia.com/gpu from limits and requests and keep the claim, or the other way round.",
    source=f"{_ARTICLE}, Limitations",
    on_unknown=FAILS_OR_WAITS,
    check=each_container(_both, "its claims and resources"),
    prevents=("preview", "update", "admission"),
)


def _node_name(workload: Workload) -> Iterator[Verdict]:
    claimed = UNKNOWN if isinstance(workload.claims, Unknown) else bool(workload.claims)
    pinned = UNKNOWN if isinstance(workload.node_name, Unknown) else workload.node_name is not None
    text = f"{workload.label} has resource claims and sets nodeName {workload.node_name}."
    path = f"{workload.path}.nodeName"
    yield from decided(all_of(claimed, pinned), text, workload, path, "its claims and nodeName")


NODE_NAME_WITH_CLAIM = Rule(
    id="AKSGPU603",
    name="node-name-with-claim",
    severity="error",
    summary="A pod with claims lets the scheduler choose its node.",
    why=(
        "The scheduler allocates claims. A pod with nodeName goes past it, so its claims are never allocated and the "
        "kubelet doesn't start it."
    ),
    fix="Remove nodeName and select the node with nodeSelector kubernetes.io/hostname or with node affinity.",
    source=f"{_API}, Pre-scheduled Pods",
    on_unknown=FAILS_OR_WAITS,
    check=each_workload(_node_name),
    prevents=("preview", "update", "admission"),
)


def _shared_by_workloads(estate: Estate) -> Iterator[Verdict]:
    """Yield the workloads that name a claim which an earlier one of their namespace names too."""
    first: dict[tuple[str, str, str], Workload] = {}
    for workload in estate.workloads:
        namespace = effective(workload.namespace)
        for claim in workload.claims if isinstance(workload.claims, tuple) else ():
            if not isinstance(claim.claim, str) or isinstance(namespace, Unknown):
                continue
            other = first.setdefault((str(workload.cluster), namespace, claim.claim), workload)
            if other is not workload and same_cluster(other.cluster, workload.cluster, estate) is True:
                text = f"{workload.label} shares the one claim {claim.claim} with {other.label}."
                yield Verdict(text, workload.place.at(claim.path))


def _shared_claims(estate: Estate) -> Iterator[Verdict]:
    yield from each_workload(_shared)(estate)
    yield from _shared_by_workloads(estate)


def _shared(workload: Workload) -> Iterator[Verdict]:
    replicas = workload.replicas
    several = UNKNOWN if isinstance(replicas, Unknown) else (replicas or 1) > 1 or workload.kind == "DaemonSet"
    if isinstance(workload.claims, Unknown):
        yield from decided(all_of(UNKNOWN, several), "", workload, workload.path, "its claims and replicas")
        return
    for claim in workload.claims or ():
        named = UNKNOWN if isinstance(claim.claim, Unknown) else claim.claim is not None
        pods = "on every node" if workload.kind == "DaemonSet" else f"of {replicas} replicas"
        text = f"The pods {pods} of {workload.label} share the one claim {claim.claim}."
        yield from decided(all_of(named, several), text, workload, claim.path, "its claims and replicas")


SHARED_CLAIM_BY_REPLICAS = Rule(
    id="AKSGPU604",
    name="shared-claim-by-replicas",
    severity="warning",
    summary="Pods that run side by side get a claim each, from a template.",
    why=(
        "Pods that name one claim share its GPU, and all have to be on the node that has it. Memory and time of the "
        "GPU are not divided, so one replica can starve or crash the others."
    ),
    fix=(
        "Refer to a ResourceClaimTemplate with resourceClaimTemplateName, which makes a claim for each pod. If sharing "
        "is meant, exempt the workload and say so."
    ),
    source=f"{_API}, ResourceClaims and ResourceClaimTemplates",
    on_unknown=FAILS_OR_WAITS,
    check=_shared_claims,
    pillars=("Performance Efficiency",),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)


def _used(workload: Workload, name: str | Unknown) -> Truth:
    if isinstance(workload.containers, Unknown):
        return UNKNOWN
    return any_of(*(_uses(container, name) for container in workload.containers or ()))


def _uses(container: ContainerFacts, name: str | Unknown) -> Truth:
    if isinstance(container.claims, Unknown):
        return UNKNOWN
    return any_of(*(_same(claim.name, name) for claim in container.claims or ()))


def _same(used: Maybe[str], name: str | Unknown) -> Truth:
    return UNKNOWN if isinstance(used, Unknown) or isinstance(name, Unknown) else used == name


def _unreferenced(workload: Workload) -> Iterator[Verdict]:
    if isinstance(workload.claims, Unknown):
        yield from decided(UNKNOWN, "", workload, workload.path, "its claims")
        return
    for claim in workload.claims or ():
        if claim.name is None:
            continue
        truth = not_(_used(workload, claim.name))
        name = claim.name if isinstance(claim.name, str) else claim.path
        text = f"No container of {workload.label} uses its claim {name}."
        yield from decided(truth, text, workload, claim.path, "the claims of its containers")


UNREFERENCED_CLAIM = Rule(
    id="AKSGPU605",
    name="unreferenced-claim",
    severity="warning",
    summary="Every claim of a pod is used by a container.",
    why="The GPU is allocated and kept for the pod, and no container gets it.",
    fix="Name the claim in resources.claims of the container that needs the GPU, or remove it from resourceClaims.",
    source=_API,
    on_unknown=FAILS_OR_WAITS,
    check=each_workload(_unreferenced),
    pillars=("Cost Optimization",),
)


def _undefined(workload: Workload, container: ContainerFacts) -> tuple[Truth, str]:
    truths = [(claim.name, _is_undefined(claim.name, workload)) for claim in _claims(container)]
    names = ", ".join(str(name) for name, truth in truths if truth is True)
    has = ", ".join(str(claim.name) for claim in workload.claims or ()) if known(workload.claims) else ""
    text = (
        f"{container_name(container).capitalize()} of {workload.label} uses the claim {names}, which is none of the "
        f"pod's resourceClaims ({has or 'it has none'})."
    )
    return any_of(*(truth for _, truth in truths)), text


def _is_undefined(name: Maybe[str], workload: Workload) -> Truth:
    if isinstance(name, Unknown) or isinstance(workload.claims, Unknown):
        return UNKNOWN
    names = [claim.name for claim in workload.claims or ()]
    if name in names:
        return False
    return UNKNOWN if UNKNOWN in names else True


UNDEFINED_CLAIM = Rule(
    id="AKSGPU606",
    name="undefined-claim",
    severity="error",
    summary="A container uses only claims that its pod has.",
    why="The API server refuses the pod, and the controller of a Deployment or Job retries for ever without a pod.",
    fix="Add the claim to the pod's resourceClaims, or correct the name in resources.claims.",
    source=_API,
    on_unknown=FAILS_OR_WAITS,
    check=each_container(_undefined, "its claims"),
)


def _tolerates_ill_nodes(toleration: Toleration) -> Truth:
    # With a limit a pod leaves in time. The API server gives every stored pod such tolerations.
    if toleration.effect == "PreferNoSchedule":
        return False
    everything = not toleration.key and toleration.operator == "Exists"
    for_ever = UNKNOWN if isinstance(toleration.seconds, Unknown) else toleration.seconds is None
    return all_of(everything or toleration.key.startswith(_HEALTH), for_ever)


def _asks_for_gpus(workload: Workload) -> Truth:
    claimed = UNKNOWN if isinstance(workload.claims, Unknown) else bool(workload.claims)
    return any_of(claimed, asks_device_plugin(workload))


def _health(workload: Workload) -> Iterator[Verdict]:
    # A DaemonSet is there for the node, ill or not.
    if workload.kind == "DaemonSet" or in_system_namespace(workload) is True:
        return
    tolerations = workload.tolerations
    ill: Truth = UNKNOWN
    if not isinstance(tolerations, Unknown):
        ill = any_of(*(_tolerates_ill_nodes(item) for item in tolerations or ()))
    which = (
        [item.key or "everything" for item in tolerations or () if _tolerates_ill_nodes(item) is True]
        if known(tolerations)
        else []
    )
    text = f"{workload.label} asks for GPUs and tolerates {', '.join(which)}."
    path = f"{workload.path}.tolerations"
    yield from decided(all_of(_asks_for_gpus(workload), ill), text, workload, path, "its tolerations")


NODE_HEALTH_TOLERATION = Rule(
    id="AKSGPU613",
    name="node-health-toleration",
    severity="warning",
    summary="GPU pods don't tolerate that their node is ill.",
    why=(
        "The pod goes to nodes whose kubelet or GPUs don't answer, and stays on them: it holds its GPU and does "
        "nothing."
    ),
    fix=(
        "Tolerate the taints of the GPU pool by key (sku=gpu:NoSchedule) and nothing of node.kubernetes.io/ without "
        "tolerationSeconds."
    ),
    source=f"{_ARTICLE}: don't tolerate node health problems as a workaround",
    on_unknown=FAILS_OR_WAITS,
    check=each_workload(_health),
)

RULES = (
    CLAIM_AND_EXTENDED_RESOURCE,
    NODE_NAME_WITH_CLAIM,
    SHARED_CLAIM_BY_REPLICAS,
    UNREFERENCED_CLAIM,
    UNDEFINED_CLAIM,
    NODE_HEALTH_TOLERATION,
)
