"""How the Azure reader puts failures and answers."""

from types import SimpleNamespace

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ODataV4Format, ServiceRequestError

from aksgpu.readers import azure_session
from aksgpu.readers.azure import Azure, AzureError, PoolAddress

ID = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"


def failed(status: int, code: str, message: str = "Azure's words.") -> HttpResponseError:
    error = HttpResponseError(message=message)
    error.status_code = status
    error.error = ODataV4Format({"error": {"code": code, "message": message}})
    return error


class Pools:
    """The client's `agent_pools`, which answers or raises one thing."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def get(self, *_: str) -> object:
        if isinstance(self._answer, Exception):
            raise self._answer
        return SimpleNamespace(as_dict=lambda: self._answer)


def reader(answer: object) -> Azure:
    made = Azure("s")
    made.__dict__["_containers"] = SimpleNamespace(agent_pools=Pools(answer))
    return made


@pytest.mark.parametrize("code", ["ResourceNotFound", "ResourceGroupNotFound", "NotFound"])
def test_what_is_not_there_is_none(code: str):
    assert reader(failed(404, code)).pool("rg", "aks", "gpunp") is None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ClientAuthenticationError(message="no credential\nmore"), "az login"),
        (failed(403, "AuthorizationFailed"), "403 AuthorizationFailed: Azure's words. The identity in use lacks"),
        (failed(404, "SubscriptionNotFound"), "404 SubscriptionNotFound"),
        (failed(429, "Throttled"), "Azure is throttling this subscription"),
        (failed(409, "Conflict"), "wait until it has finished"),
        (failed(500, "InternalServerError"), "500 InternalServerError: Azure's words."),
        (ServiceRequestError("no route"), "can't be reached. no route"),
    ],
)
def test_a_failure_is_one_paragraph_that_says_what_was_asked(error: Exception, said: str):
    with pytest.raises(AzureError) as refused:
        reader(error).pool("rg", "aks", "gpunp")
    text = str(refused.value)
    assert said in text
    assert text.startswith("Could not read the node pool gpunp of the cluster rg/aks: ")
    assert "\n" not in text


def test_a_pool_is_read_as_azure_has_accepted_it():
    found = {
        "id": f"{ID}/agentPools/gpunp",
        "name": "gpunp",
        "properties": {
            "provisioningState": "Succeeded",
            "osSKU": "Ubuntu",
            "count": 1,
            "currentOrchestratorVersion": "1.35.4",
            "gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed", "driverMode": "DRA"}},
        },
    }
    pool = reader(found).pool("rg", "aks", "gpunp")
    assert pool is not None
    assert pool.facts.kubernetes_version == "1.35.4"
    assert pool.accepted() == {
        "provisioningState": "Succeeded",
        "osSku": "Ubuntu",
        "driver": "Install",
        "managementMode": "Managed",
        "driverMode": "DRA",
    }


def test_a_pool_address_is_taken_from_its_id():
    assert PoolAddress.parse(f"{ID}/agentPools/gpunp") == ("s", "rg", "aks", "gpunp")
    with pytest.raises(AzureError, match="is not the ARM id of a node pool"):
        PoolAddress.parse(ID)


def test_the_endpoint_is_azures_unless_one_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.delenv("AKSGPU_ARM_ENDPOINT", raising=False)
    assert azure_session.endpoint() == {}
    monkeypatch.setenv("AKSGPU_ARM_ENDPOINT", "https://127.0.0.1:1")
    monkeypatch.setenv("AKSGPU_ARM_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(AzureError, match="can't be read"):
        azure_session.credential().get_token("scope")
    (tmp_path / "token").write_text("secret\n")
    assert azure_session.credential().get_token("scope").token == "secret"
    assert azure_session.endpoint() == {"base_url": "https://127.0.0.1:1"}
