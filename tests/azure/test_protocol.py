"""The rules of the interface itself: tokens, api-versions, fields per version, throttling, error shape."""

import json
import ssl
from typing import Any

import httpx2
import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.mgmt.containerservice import ContainerServiceClient

from tests.azure.harness import A100, DRA, FAST, GROUP, Endpoint, cluster_body, eventually
from twin.account import SUBSCRIPTION
from twin.arm.errors import ArmError
from twin.arm.settings import Settings

OLD, DRIVER_MODE, NEWEST = "2026-05-02-preview", "2026-06-02-preview", "2026-08-02-preview"


def raw(endpoint: Endpoint, method: str, path: str, **options: Any) -> httpx2.Response:
    """Send a request without any client library."""
    headers = {"Authorization": f"Bearer {endpoint.folder.token.read_text()}", **options.pop("headers", {})}
    context = ssl.create_default_context(cafile=str(endpoint.folder.ca))
    return httpx2.request(method, f"{endpoint.url}{path}", headers=headers, verify=context, **options)


def pool_path(cluster: str, pool: str, version: str) -> str:
    return (
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}/providers/Microsoft.ContainerService/"
        f"managedClusters/{cluster}/agentPools/{pool}?api-version={version}"
    )


def test_a_wrong_token_is_refused(endpoint: Endpoint) -> None:
    client = endpoint.client(ContainerServiceClient, token="wrong")
    with pytest.raises(ClientAuthenticationError) as caught:
        list(client.managed_clusters.list())
    assert caught.value.error is not None
    assert caught.value.error.code == "AuthenticationFailed"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Basic x"}, 401),
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
    ],
)
def test_only_programs_with_the_token_get_in(headers: dict[str, str], status: int, endpoint: Endpoint) -> None:
    answer = raw(endpoint, "GET", "/subscriptions?api-version=2022-12-01", headers=headers)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "message"}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/subscriptions", 400, "MissingApiVersionParameter"),
        ("/subscriptions?api-version=new", 400, "InvalidApiVersionParameter"),
        (f"/subscriptions/{SUBSCRIPTION}/nothing?api-version=2022-12-01", 404, "InvalidResourceType"),
        ("/subscriptions/1-2-3/resourceGroups?api-version=2022-12-01", 404, "SubscriptionNotFound"),
        (pool_path("c", "p", "2031-01-01"), 400, "NoRegisteredProviderFound"),
        (
            f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Resources/deployments/x?api-version=2022-12-01",
            501,
            "TwinNotSupported",
        ),
    ],
)
def test_wrong_addresses_get_azures_errors(path: str, status: int, code: str, endpoint: Endpoint) -> None:
    answer = raw(endpoint, "GET", path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.headers["x-ms-request-id"]


@pytest.mark.parametrize("content", ["{", "[]", '"x"', "", '{"properties": []}', '{"properties": {"count": "x"}}'])
def test_a_body_that_is_no_pool_is_a_400(content: str, endpoint: Endpoint, cluster: str) -> None:
    answer = raw(endpoint, "PUT", pool_path(cluster, "odd", NEWEST), content=content)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "InvalidRequestContent")


def test_an_unexpected_error_has_an_id_and_no_traceback(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(endpoint.azure.service.store, "resources", broken)
    answer = raw(endpoint, "GET", f"/subscriptions/{SUBSCRIPTION}/resourceGroups?api-version=2022-12-01")
    assert answer.status_code == 500
    assert answer.headers["x-ms-request-id"] in answer.json()["error"]["message"]
    assert "ZeroDivision" not in answer.text


@pytest.mark.parametrize(
    ("version", "nvidia"),
    [
        ("2025-09-01", None),
        ("2025-10-02-preview", None),
        (OLD, {"managementMode": "Managed", "migStrategy": "None"}),
        (DRIVER_MODE, {"managementMode": "Managed", "migStrategy": "None", "driverMode": "DRA"}),
        (NEWEST, {"managementMode": "Managed", "migStrategy": "None", "driverMode": "DRA"}),
        ("2026-07-01", None),
        ("2026-08-01", {"managementMode": "Managed"}),
    ],
)
def test_a_version_shows_only_its_own_fields(
    version: str, nvidia: dict[str, str] | None, endpoint: Endpoint, cluster: str, put_pool: Any
) -> None:
    put_pool("fields", vmSize=A100, count=0, gpuProfile=DRA)
    profile = raw(endpoint, "GET", pool_path(cluster, "fields", version)).json()["properties"]["gpuProfile"]
    assert profile == {"driver": "Install"} | ({"nvidia": nvidia} if nvidia else {})
    cluster_answer = raw(endpoint, "GET", pool_path(cluster, "fields", version).replace("/agentPools/fields", ""))
    shown = {pool["name"]: pool for pool in cluster_answer.json()["properties"]["agentPoolProfiles"]}
    assert shown["fields"]["gpuProfile"] == profile


@pytest.mark.parametrize(
    ("version", "properties", "field"),
    [
        (OLD, {"gpuProfile": DRA}, "driverMode"),
        ("2026-08-01", {"gpuProfile": DRA}, "driverMode"),
        ("2025-09-01", {"gpuProfile": DRA}, "nvidia"),
        (DRIVER_MODE, {"gpuProfile": {"nvidia": {"migProfiles": ["MIG1g"]}}}, "migProfiles"),
        (NEWEST, {"gpuProfil": {}}, "gpuProfil"),
        (NEWEST, {"upgradeSettings": {"maxSurges": "1"}}, "maxSurges"),
    ],
)
def test_a_field_that_the_version_lacks_is_refused(
    version: str, properties: dict[str, Any], field: str, endpoint: Endpoint, cluster: str
) -> None:
    body = json.dumps({"properties": {"vmSize": A100, "count": 0, **properties}})
    answer = raw(endpoint, "PUT", pool_path(cluster, "lacks", version), content=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "InvalidRequestContent")
    assert f"'{field}'" in error["message"]
    assert raw(endpoint, "GET", pool_path(cluster, "lacks", version)).status_code == 404


def test_keys_and_values_are_read_in_any_case_but_unknown_values_are_refused(endpoint: Endpoint, cluster: str) -> None:
    def put(pool: str, sku: str) -> dict[str, Any]:
        body = json.dumps({"Properties": {"vmSize": "Standard_D4s_v5", "count": 0, "osSku": sku}})
        return raw(endpoint, "PUT", pool_path(cluster, pool, NEWEST), content=body).json()

    assert put("cased", "ubuntu")["properties"]["osSKU"] == "Ubuntu"
    assert "'BeOS' is not one of Ubuntu" in put("beos", "BeOS")["error"]["message"]


def test_writes_are_throttled_and_the_client_waits(
    endpoint: Endpoint, aks: Any, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = FAST.model_copy(update={"write_burst": 2, "writes_per_minute": 60.0})
    endpoint.azure.service.store.put_settings(limited)
    refusals: list[ArmError] = []
    take = endpoint.azure.throttle.take

    def watched(bucket: str, settings: Settings) -> None:
        try:
            take(bucket, settings)
        except ArmError as error:
            refusals.append(error)
            raise

    monkeypatch.setattr(endpoint.azure.throttle, "take", watched)
    for count in (0, 1, 2):
        body = {"properties": {"vmSize": "Standard_D4s_v5", "count": count}}
        aks.agent_pools.begin_create_or_update(GROUP, cluster, "hasty", body).result()
    assert refusals
    assert aks.agent_pools.get(GROUP, cluster, "hasty").properties.count == 2
    body = {"properties": {"count": 3}}
    answers = [raw(endpoint, "PUT", pool_path(cluster, "hasty", NEWEST), content=json.dumps(body)) for _ in range(3)]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["error"]["code"] == "Throttled"
    assert refused.headers["Retry-After"] == "1"


def test_the_fault_arm_throttle_is_waited_out(endpoint: Endpoint, resources: Any) -> None:
    endpoint.fault("arm-throttle")
    for name in ("rg-t1", "rg-t2"):
        assert resources.resource_groups.create_or_update(name, {"location": "eastus"}).name == name


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [("arm-500", 500, "InternalServerError"), ("arm-conflict", 409, "OperationNotAllowed")],
)
def test_faults_of_the_interface(fault: str, status: int, code: str, endpoint: Endpoint, cluster: str) -> None:
    endpoint.fault(fault)
    answer = raw(endpoint, "PUT", pool_path(cluster, "any", NEWEST), content="{}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_arm_slow_makes_requests_last(endpoint: Endpoint) -> None:
    endpoint.fault("arm-slow", "30")
    with pytest.raises(httpx2.ReadTimeout):
        raw(endpoint, "GET", "/subscriptions?api-version=2022-12-01", timeout=0.3)


def test_paths_are_matched_in_any_case(endpoint: Endpoint, cluster: str) -> None:
    assert raw(endpoint, "GET", pool_path(cluster, "SYS", NEWEST).replace("agentPools", "agentpools")).is_success


def test_local_accounts_can_be_off(aks: Any) -> None:
    body = cluster_body(disableLocalAccounts=True)
    aks.managed_clusters.begin_create_or_update(GROUP, "noadmin", body).result()
    with pytest.raises(HttpResponseError, match="set to disable local accounts"):
        aks.managed_clusters.list_cluster_admin_credentials(GROUP, "noadmin")
    user = aks.managed_clusters.list_cluster_user_credentials(GROUP, "noadmin").kubeconfigs[0]
    assert b"name: user" in user.value


def test_a_full_disk_is_one_clear_paragraph(endpoint: Endpoint) -> None:
    database = endpoint.azure.service.store._db
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count = {pages}")
    try:
        body = json.dumps({"location": "eastus", "tags": {"a": "x" * 100_000}})
        path = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-full?api-version=2025-04-01"
        answer = raw(endpoint, "PUT", path, content=body)
    finally:
        database.execute("PRAGMA max_page_count = 1073741823")
    assert answer.status_code == 500
    assert "database or disk is full. Free disk space" in answer.json()["error"]["message"]
    assert raw(endpoint, "GET", path).status_code == 404


@pytest.mark.parametrize("version", ["2025-09-01", NEWEST])
@pytest.mark.parametrize("what", ["pool", "cluster"])
def test_what_was_read_can_be_written_back(
    version: str, what: str, endpoint: Endpoint, cluster: str, put_pool: Any
) -> None:
    put_pool("roundtrip", vmSize=A100, count=1, gpuProfile=DRA)
    path = pool_path(cluster, "roundtrip", version)
    if what == "cluster":
        path = path.replace("/agentPools/roundtrip", "")

    def read() -> dict[str, Any]:
        shown = raw(endpoint, "GET", path).json()
        shown.pop("eTag", None)
        shown["properties"].pop("eTag")
        return shown

    before, nodes = read(), endpoint.cluster(cluster).plan.nodes
    answer = raw(endpoint, "PUT", path, content=json.dumps(before))
    assert answer.status_code == 200, answer.text
    eventually(lambda: read()["properties"]["provisioningState"] == "Succeeded")
    assert read() == before
    assert endpoint.cluster(cluster).plan.nodes == nodes
