"""Claims that ask for too much, next to the border and where examples can't show it."""

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.claims import ClaimFacts, DeviceRequest
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.claims import CLAIM_TOO_LARGE, DEVICE_COUNT
from aksgpu.rules.model import Rule, Verdict


def found(rule: Rule, *requests: DeviceRequest, fields: tuple[str, ...] = ()) -> list[Verdict]:
    place = Place(object="ResourceClaim training/gpus")
    claim = ClaimFacts(
        place=place, kind="ResourceClaim", api_version="resource.k8s.io/v1", requests=requests, fields=fields
    )
    return list(rule.check(Estate(claims=(claim,))))


def request(index: int = 0, **fields: object) -> DeviceRequest:
    return DeviceRequest.model_validate({"path": f"spec.devices.requests[{index}].exactly", **fields})


def test_a_count_of_0_is_found_with_its_place():
    # Not an example: the API server has made it 1 before an admission policy sees it.
    (verdict,) = found(DEVICE_COUNT, request(count=0))
    assert "count 0" in verdict.message
    assert verdict.place.path == "spec.devices.requests[0].exactly.count"


def test_a_count_of_0_counts_as_1_in_the_sum():
    messages = [verdict.message for verdict in found(DEVICE_COUNT, request(count=0), request(1, count=32))]
    assert any("33 devices in 2 requests" in text for text in messages)


@pytest.mark.parametrize(("counts", "verdicts"), [((31,), 0), ((32,), 1)])
def test_a_request_without_a_count_is_one_device(counts: tuple[int, ...], verdicts: int):
    requests = [request(index, count=count) for index, count in enumerate((*counts, None))]
    assert len(found(DEVICE_COUNT, *requests)) == verdicts


def test_what_is_known_may_already_be_too_much():
    (verdict,) = found(DEVICE_COUNT, request(count=33), request(1, count=UNKNOWN))
    assert not verdict.undecided


def test_an_unknown_count_waits():
    (verdict,) = found(DEVICE_COUNT, request(count=UNKNOWN))
    assert verdict.undecided


@pytest.mark.parametrize(("count", "verdicts"), [(32, 0), (33, 1)])
def test_requests_and_constraints_are_counted(count: int, verdicts: int):
    assert len(found(CLAIM_TOO_LARGE, *(request(index) for index in range(count)))) == verdicts
    paths = tuple(f"constraints[{index}].{key}" for index in range(count) for key in ("requests", "matchAttribute"))
    assert len(found(CLAIM_TOO_LARGE, request(), fields=paths)) == verdicts


@pytest.mark.parametrize(("size", "verdicts"), [(10240, 0), (10241, 1)])
def test_expressions_have_a_length(size: int, verdicts: int):
    assert len(found(CLAIM_TOO_LARGE, request(selectors=("x" * size,)))) == verdicts
