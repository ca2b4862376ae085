"""Rules about pods where facts are not known yet: they wait, unless the known rest settles it."""

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.claims import ClaimFacts, DeviceRequest, QuotaFacts
from aksgpu.facts.estate import Estate
from aksgpu.facts.nodes import Toleration
from aksgpu.facts.truth import UNKNOWN, Maybe
from aksgpu.facts.workloads import ContainerFacts, HostPath, Mount, PodClaim, Workload
from aksgpu.rules.isolation import NULL_DEVICE_MOUNT, QUOTA_ESCAPED
from aksgpu.rules.model import Rule
from aksgpu.rules.workloads import NODE_HEALTH_TOLERATION, SHARED_CLAIM_BY_REPLICAS, UNREFERENCED_CLAIM

_POD = PodClaim(path="spec.resourceClaims[0]", name="gpu", claim="shared")
_MOUNT = Mount(volume="null", path="/var/run/nvidia-container-devices/all")


def pod(**facts: object) -> Workload:
    given = {"place": Place(object="Pod team/train"), "api_version": "v1", "kind": "Pod", "path": "spec", **facts}
    return Workload.model_validate(given)


def container(**facts: object) -> ContainerFacts:
    return ContainerFacts.model_validate({"path": "spec.containers[0]", **facts})


def outcomes(rule: Rule, *workloads: Workload) -> list[str]:
    return ["waits" if one.undecided else "fails" for one in rule.check(Estate(workloads=workloads))]


@pytest.mark.parametrize(("replicas", "expected"), [(3, ["waits"]), (1, []), (UNKNOWN, ["waits"])])
def test_claims_that_are_not_known_may_be_shared_by_replicas(replicas: Maybe[int], expected: list[str]):
    assert outcomes(SHARED_CLAIM_BY_REPLICAS, pod(claims=UNKNOWN, replicas=replicas)) == expected


def test_no_namespace_is_the_default_one():
    assert outcomes(SHARED_CLAIM_BY_REPLICAS, pod(claims=(_POD,)), pod(claims=(_POD,), namespace="default")) == [
        "fails"
    ]


def test_claims_that_are_not_known_may_be_unused():
    assert outcomes(UNREFERENCED_CLAIM, pod(claims=UNKNOWN)) == ["waits"]


def test_a_claim_is_unused_whatever_its_name_when_containers_use_none():
    claim = PodClaim(path="spec.resourceClaims[0]", name=UNKNOWN)
    assert outcomes(UNREFERENCED_CLAIM, pod(claims=(claim,), containers=(container(),))) == ["fails"]


@pytest.mark.parametrize(("seconds", "expected"), [(None, ["fails"]), (300, []), (0, []), (UNKNOWN, ["waits"])])
def test_a_limited_toleration_lets_the_pod_leave(seconds: Maybe[int], expected: list[str]):
    toleration = Toleration(
        key="node.kubernetes.io/unreachable", operator="Exists", effect="NoExecute", seconds=seconds
    )
    assert outcomes(NODE_HEALTH_TOLERATION, pod(claims=(_POD,), tolerations=(toleration,))) == expected


@pytest.mark.parametrize(
    ("name", "host_path", "expected"),
    [
        (UNKNOWN, "/dev/null", ["waits"]),
        (UNKNOWN, "/data", []),
        ("null", UNKNOWN, ["waits"]),
        ("other", "/dev/null", []),
        ("null", "/dev/null", ["fails"]),
    ],
)
def test_a_volume_of_which_a_part_is_not_known(name: Maybe[str], host_path: Maybe[str], expected: list[str]):
    volume = HostPath(path="spec.volumes[0]", name=name, host_path=host_path)
    mounting = pod(host_paths=(volume,), containers=(container(mounts=(_MOUNT,)),))
    assert outcomes(NULL_DEVICE_MOUNT, mounting) == expected


def test_a_harmless_mount_needs_no_volume():
    harmless = container(mounts=(Mount(volume="data", path="/data"),))
    assert outcomes(NULL_DEVICE_MOUNT, pod(host_paths=UNKNOWN, containers=(harmless,))) == []


@pytest.mark.parametrize(
    ("quota", "claim", "expected"),
    [(UNKNOWN, UNKNOWN, 0), ("team", UNKNOWN, 0), (None, "default", 1), ("team", "team", 1), ("team", "other", 0)],
)
def test_a_quota_and_a_claim_meet_in_one_known_namespace(quota: Maybe[str], claim: Maybe[str], expected: int):
    place = Place(object="an object")
    requests = (DeviceRequest(path="spec.devices.requests[0].exactly", device_class="gpu.nvidia.com"),)
    claims = ClaimFacts(
        place=place, kind="ResourceClaim", api_version="resource.k8s.io/v1", namespace=claim, requests=requests
    )
    quotas = QuotaFacts(place=place, namespace=quota, hard={"requests.nvidia.com/gpu": "4"})
    assert len(list(QUOTA_ESCAPED.check(Estate(claims=(claims,), quotas=(quotas,))))) == expected
