"""AKSGPU70x: how pods reach for GPUs past Kubernetes."""

import re
from collections.abc import Iterator

from aksgpu.facts.claims import ClaimFacts, QuotaFacts
from aksgpu.facts.estate import Estate
from aksgpu.facts.namespaces import effective
from aksgpu.facts.truth import UNKNOWN, Maybe, Truth, Unknown, all_of, any_of, not_
from aksgpu.facts.workloads import ContainerFacts, HostPath, Mount, Workload
from aksgpu.knowledge.paths import normal
from aksgpu.rules.checks import FAILS_OR_WAITS
from aksgpu.rules.demand import is_gpu_class
from aksgpu.rules.model import Rule, Verdict
from aksgpu.rules.placement import same_cluster
from aksgpu.rules.pods import container_name, decided, each_container, each_workload, in_system_namespace

_REQUESTS = re.compile(r"^/(?:var/)?run/nvidia-container-devices(?:/|$)")
_VARIABLE = "NVIDIA_VISIBLE_DEVICES"
_NO_DEVICES = ("", "none", "void")
_GUIDE = "NVIDIA/aicr: AKS GPU setup, Device-isolation hardening; NVIDIA/aicr issue 1839"


def _is_null(volume: HostPath) -> Truth:
    if isinstance(volume.host_path, Unknown):
        return UNKNOWN
    return volume.host_path is not None and normal(volume.host_path) == "/dev/null"


def _requests_devices(mount: Mount, workload: Workload) -> Truth:
    there = UNKNOWN if isinstance(mount.path, Unknown) else bool(_REQUESTS.match(normal(mount.path or "")))
    if isinstance(workload.host_paths, Unknown):
        return all_of(there, UNKNOWN)
    mounted = (all_of(_is_mounted(volume, mount), _is_null(volume)) for volume in workload.host_paths or ())
    return all_of(there, any_of(*mounted))


def _is_mounted(volume: HostPath, mount: Mount) -> Truth:
    if isinstance(volume.name, Unknown) or isinstance(mount.volume, Unknown):
        return UNKNOWN
    return volume.name == mount.volume


def _null_device_mount(workload: Workload, container: ContainerFacts) -> tuple[Truth, str]:
    truth: Truth = UNKNOWN
    if not isinstance(container.mounts, Unknown):
        truth = any_of(*(_requests_devices(mount, workload) for mount in container.mounts or ()))
    truth = all_of(truth, not_(in_system_namespace(workload)))
    paths = ", ".join(
        str(mount.path)
        for mount in (container.mounts if isinstance(container.mounts, tuple) else ())
        if _requests_devices(mount, workload) is True
    )
    return truth, f"{container_name(container).capitalize()} of {workload.label} mounts /dev/null at {paths}."


NULL_DEVICE_MOUNT = Rule(
    id="AKSGPU701",
    name="null-device-mount",
    severity="error",
    summary="No pod asks the container toolkit for GPUs with a mount of /dev/null.",
    why=(
        "NVIDIA's container toolkit takes a mount of /dev/null below /var/run/nvidia-container-devices as a request "
        "for the GPU that the path names, and grants it without Kubernetes: the pod gets GPUs that belong to others."
    ),
    fix="Remove the mount, and ask for the GPU with a resource claim.",
    source=f"{_GUIDE}; Scope of the hardening",
    on_unknown=FAILS_OR_WAITS,
    check=each_container(_null_device_mount, "its volumes and mounts"),
    pillars=("Security",),
    prevents=("preview", "update", "admission"),
)


def _visible_devices(workload: Workload, container: ContainerFacts) -> tuple[Truth, str]:
    value: Maybe[str] = UNKNOWN
    if not isinstance(container.environment, Unknown):
        value = (container.environment or {}).get(_VARIABLE)
    chosen = UNKNOWN if isinstance(value, Unknown) else value is not None and value not in _NO_DEVICES
    truth = all_of(chosen, not_(in_system_namespace(workload)))
    return truth, f"{container_name(container).capitalize()} of {workload.label} sets {_VARIABLE} to {value!r}."


VISIBLE_DEVICES_ENV = Rule(
    id="AKSGPU702",
    name="visible-devices-env",
    severity="error",
    summary="No pod chooses its GPUs with NVIDIA_VISIBLE_DEVICES.",
    why=(
        "Where the container toolkit has its permissive defaults, as on AKS node images, the variable hands a pod GPUs "
        "that Kubernetes gave to others; where it is hardened, the variable does nothing."
    ),
    fix="Remove the variable and ask for the GPU with a resource claim. To hide GPUs from a container, set it to void.",
    source=_GUIDE,
    on_unknown=FAILS_OR_WAITS,
    check=each_container(_visible_devices, f"the value of {_VARIABLE}"),
    pillars=("Security",),
    prevents=("preview", "update", "admission"),
)


def _is_gpu_device(volume: HostPath) -> Truth:
    if isinstance(volume.host_path, Unknown):
        return UNKNOWN
    return normal(volume.host_path or "").startswith("/dev/nvidia")


def _host_devices(workload: Workload) -> Iterator[Verdict]:
    waits_for = "the paths of its volumes"
    if isinstance(workload.host_paths, Unknown):
        yield from decided(all_of(UNKNOWN, not_(in_system_namespace(workload))), "", workload, workload.path, waits_for)
        return
    for volume in workload.host_paths or ():
        text = f"{workload.label} mounts {volume.host_path} of the node."
        truth = all_of(_is_gpu_device(volume), not_(in_system_namespace(workload)))
        yield from decided(truth, text, workload, volume.path, waits_for)


NVIDIA_DEVICE_HOST_PATH = Rule(
    id="AKSGPU703",
    name="nvidia-device-host-path",
    severity="error",
    summary="No pod mounts GPU devices of the node.",
    why="The pod uses GPUs that Kubernetes doesn't know it has, and gives to others as well.",
    fix="Remove the hostPath volume and ask for the GPU with a resource claim.",
    source="NVIDIA/aicr: secure accelerator access; kubernetes.io: Dynamic Resource Allocation",
    on_unknown=FAILS_OR_WAITS,
    check=each_workload(_host_devices),
    pillars=("Security",),
    prevents=("preview", "update", "admission"),
)


_QUOTA_KEYS = ("requests.nvidia.com/gpu", "limits.nvidia.com/gpu", "nvidia.com/gpu")


def _same_namespace(claim: ClaimFacts, quota: QuotaFacts) -> bool:
    ours, theirs = effective(claim.namespace), effective(quota.namespace)
    # Two that aren't known yet needn't be the same.
    return isinstance(ours, str) and ours == theirs


def _escaping(quota: QuotaFacts, estate: Estate) -> Iterator[tuple[ClaimFacts, str]]:
    """Yield claims of the quota's namespace with a class of GPUs that it doesn't count."""
    hard = quota.hard if isinstance(quota.hard, dict) else {}
    mapped = {
        item.name
        for item in estate.device_classes
        if item.extended_resource_name is not None and same_cluster(quota.cluster, item.cluster, estate) is not False
    }
    for claim in estate.claims_near(quota.cluster):
        if (
            same_cluster(quota.cluster, claim.cluster, estate) is False
            or not _same_namespace(claim, quota)
            or not isinstance(claim.requests, tuple)
        ):
            continue
        for request in (part for one in claim.requests for part in (one, *one.alternatives)):
            name = request.device_class
            if (
                isinstance(name, str)
                and is_gpu_class(request, estate) is True
                and name not in mapped
                and f"{name}.deviceclass.resource.k8s.io/devices" not in hard
            ):
                yield claim, name


def _quota_check(estate: Estate) -> Iterator[Verdict]:
    for quota in estate.quotas:
        hard = quota.hard if isinstance(quota.hard, dict) else {}
        if not any(key in hard for key in _QUOTA_KEYS):
            continue
        for claim, name in {name: (claim, name) for claim, name in _escaping(quota, estate)}.values():
            yield Verdict(
                f"{quota.place.object} limits nvidia.com/gpu, and {claim.place.object} asks for devices of class "
                f"{name}, which it doesn't count. Add {name}.deviceclass.resource.k8s.io/devices to its hard limits.",
                quota.place.at("spec.hard"),
            )


QUOTA_ESCAPED = Rule(
    id="AKSGPU704",
    name="quota-escaped",
    severity="warning",
    summary="A quota on GPUs counts claims too.",
    why=(
        "A quota on nvidia.com/gpu counts extended resources only. Claims of a device class without "
        "extendedResourceName pass it by, so a team can take every GPU of the cluster."
    ),
    fix="Add <class>.deviceclass.resource.k8s.io/devices to the quota's hard limits.",
    source="kubernetes.io: Resource Quotas, Quota for resource claims; measured on Kubernetes 1.36",
    on_unknown="A quota or claim that isn't known yet is judged when an update knows.",
    check=_quota_check,
    pillars=("Cost Optimization",),
    prevents=("preview",),
    detects=("update", "files"),
    across=True,
)

RULES = (NULL_DEVICE_MOUNT, VISIBLE_DEVICES_ENV, NVIDIA_DEVICE_HOST_PATH, QUOTA_ESCAPED)
