import threading

import pytest

from tests.unit.twin.azure_native.azure_stub import Answer
from twin.azure_native.arm_client import (
    ArmClient,
    AzureError,
    Deadline,
    InterruptedByEngineError,
    OperationFailedError,
)
from twin.errors import TwinError

PATH = "/subscriptions/s/resourceGroups/rg"
VERSION = "2025-09-01"


@pytest.fixture
def client(azure):
    return ArmClient(azure.endpoint, "secret-token", verify=True)


@pytest.fixture
def deadline(cancelled):
    return Deadline(cancelled, 30)


def error(status, code, text="sorry", **headers):
    return Answer(
        status, {"error": {"code": code, "message": text}}, {k.replace("_", "-"): v for k, v in headers.items()}
    )


def put(client, deadline, body=None):
    said = []
    return client.put(PATH, VERSION, body or {"location": "eastus"}, deadline, said.append), said


def test_requests_carry_token_and_version(azure, client, deadline):
    assert client.get(PATH, VERSION, deadline) is None
    (request,) = azure.requests
    assert request.token == "Bearer secret-token"
    assert request.query == {"api-version": VERSION}


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_errors_are_retried(azure, client, deadline, status):
    azure.script("PUT", PATH, error(status, "Busy", Retry_After="0.01"), error(status, "Busy"))
    body, _ = put(client, deadline)
    assert body["location"] == "eastus"
    assert len(azure.sent("PUT")) == 3


def test_retries_end(azure, client, deadline):
    azure.script("PUT", PATH, *[error(429, "Throttled", "too many")] * 4)
    with pytest.raises(AzureError) as raised:
        put(client, deadline)
    assert str(raised.value) == 'Status=429 Code="Throttled" Message="too many"'
    assert len(azure.sent("PUT")) == 4


@pytest.mark.parametrize(("code", "tries"), [("AnotherOperationInProgress", 2), ("OperationNotAllowed", 1)])
def test_only_one_conflict_is_retried(azure, client, deadline, code, tries):
    azure.script("PUT", PATH, error(409, code))
    if tries == 1:
        with pytest.raises(AzureError, match=code):
            put(client, deadline)
    else:
        put(client, deadline)
    assert len(azure.sent("PUT")) == tries


def test_an_operation_is_followed_by_its_header(azure, client, deadline):
    azure.resources[PATH] = {"properties": {"provisioningState": "Succeeded"}}
    accepted = Answer(201, {}, {"Azure-AsyncOperation": f"{azure.endpoint}/op?api-version=x"})
    azure.script("PUT", PATH, accepted)
    azure.script("GET", "/op", Answer(200, {"status": "InProgress"}), Answer(200, {"status": "Succeeded"}))
    body, said = put(client, deadline)
    assert body["properties"]["provisioningState"] == "Succeeded"
    assert said == ["InProgress"]
    assert azure.sent("GET")[0].query == {"api-version": "x"}


def test_an_operation_that_fails_gives_its_error(azure, client, deadline):
    azure.script("PUT", PATH, Answer(201, {}, {"Azure-AsyncOperation": f"{azure.endpoint}/op"}))
    azure.script("GET", "/op", Answer(200, {"status": "Failed", "error": {"code": "SkuNotAvailable", "message": "no"}}))
    with pytest.raises(OperationFailedError, match='Status=200 Code="SkuNotAvailable" Message="no"'):
        put(client, deadline)


def test_an_operation_is_followed_by_its_location(azure, client, deadline):
    azure.resources[PATH] = {"id": PATH}
    azure.script("DELETE", PATH, Answer(202, None, {"Location": f"{azure.endpoint}/later"}))
    azure.script("GET", "/later", Answer(202), Answer(202), Answer(204))
    client.delete(PATH, VERSION, deadline, lambda _: None)
    assert [request.path for request in azure.sent("GET")] == ["/later"] * 3


def test_a_creation_without_headers_is_followed_by_its_state(azure, client, deadline):
    azure.script("PUT", PATH, Answer(201, {"properties": {"provisioningState": "Creating"}}))
    azure.script(
        "GET",
        PATH,
        Answer(200, {"properties": {"provisioningState": "Creating"}}),
        Answer(200, {"properties": {"provisioningState": "Failed"}}),
    )
    with pytest.raises(OperationFailedError, match="Failed"):
        put(client, deadline)


@pytest.mark.parametrize("status", [204, 404])
def test_deleting_what_is_not_there_succeeds(azure, client, deadline, status):
    azure.script("DELETE", PATH, Answer(status))
    client.delete(PATH, VERSION, deadline, lambda _: None)


def test_a_refused_deletion_is_an_error(azure, client, deadline):
    azure.script("DELETE", PATH, error(403, "ScopeLocked"))
    with pytest.raises(AzureError, match="ScopeLocked"):
        client.delete(PATH, VERSION, deadline, lambda _: None)


def test_cancelling_ends_a_wait_at_once(azure, client, cancelled):
    azure.script("PUT", PATH, Answer(201, {}, {"Azure-AsyncOperation": f"{azure.endpoint}/op", "Retry-After": "60"}))
    threading.Timer(0.05, cancelled.set).start()
    with pytest.raises(OperationFailedError, match="cancelled"):
        put(client, Deadline(cancelled, 30))


def test_the_resource_s_timeout_ends_a_wait(azure, client, cancelled):
    azure.script("PUT", PATH, Answer(201, {}, {"Azure-AsyncOperation": f"{azure.endpoint}/op", "Retry-After": "60"}))
    with pytest.raises(OperationFailedError, match="timeout of 0 seconds"):
        put(client, Deadline(cancelled, 0.05))


def test_an_answer_that_is_not_json(azure, client, deadline):
    azure.script("GET", PATH, Answer(401, "nope"))
    with pytest.raises(AzureError, match='Status=401 Message=""nope""'):
        client.get(PATH, VERSION, deadline)


def test_nobody_there_is_one_sentence(deadline):
    with pytest.raises(TwinError, match=r"127\.0\.0\.1:9/ does not answer .*aksgpu twin status"):
        ArmClient("http://127.0.0.1:9", "t", verify=True).get(PATH, VERSION, deadline)


def test_an_interrupted_request_is_not_sent(azure, client, cancelled):
    cancelled.set()
    with pytest.raises(InterruptedByEngineError):
        client.get(PATH, VERSION, Deadline(cancelled, 30))
    assert azure.requests == []
