"""Turns conditions on pods into checks, so that a rule about workloads states only what is wrong."""

from collections.abc import Callable, Iterator

from aksgpu.facts.base import Place
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown
from aksgpu.facts.workloads import ContainerFacts, Workload
from aksgpu.knowledge.system_namespaces import SYSTEM_NAMESPACES
from aksgpu.rules.model import Check, Verdict


def each_workload(judge: Callable[[Workload], Iterator[Verdict]]) -> Check:
    """Check every pod template by itself."""

    def check(estate: Estate) -> Iterator[Verdict]:
        for workload in estate.workloads:
            yield from judge(workload)

    return check


def each_container(judge: Callable[[Workload, ContainerFacts], tuple[Truth, str]], waits_for: str) -> Check:
    """Check every container, init containers too; `judge` returns whether it is wrong and what to say then."""

    def check(estate: Estate) -> Iterator[Verdict]:
        for workload in estate.workloads:
            if isinstance(workload.containers, Unknown):
                yield waiting(workload, workload.place.at(workload.path), waits_for)
                continue
            for container in workload.containers or ():
                truth, message = judge(workload, container)
                yield from decided(truth, message, workload, container.path, waits_for)

    return check


def in_system_namespace(workload: Workload) -> Truth:
    """Tell whether a pod is of Kubernetes, of AKS and its add-ons, or of NVIDIA's own software."""
    if isinstance(workload.namespace, Unknown):
        return UNKNOWN
    return workload.namespace in SYSTEM_NAMESPACES


def decided(truth: Truth, message: str, workload: Workload, path: str, waits_for: str) -> Iterator[Verdict]:
    """Yield the message when it is so, and what the rule waits for when that can't be told yet."""
    place = workload.place.at(path)
    if truth is True:
        yield Verdict(message, place)
    elif isinstance(truth, Unknown) and not workload.malformed:
        # A malformed value is unknown too, and has a finding of its own.
        yield waiting(workload, place, waits_for)


def waiting(workload: Workload, place: Place, waits_for: str) -> Verdict:
    """Say that pods can't be judged before something is known."""
    text = f"{workload.label} can't be judged yet without {waits_for}; the rule decides when an update knows."
    return Verdict(text, place, undecided=True)


def container_name(container: ContainerFacts) -> str:
    """Return the container in a sentence."""
    name = container.name if isinstance(container.name, str) else container.path
    return f"init container {name}" if container.init else f"container {name}"
