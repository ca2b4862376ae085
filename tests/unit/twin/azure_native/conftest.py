"""What the plugin's unit tests share: a tiny Azure, and the metadata of the installed SDKs."""

import threading
from collections.abc import Callable, Iterator

import pytest

from tests.unit.twin.azure_native.azure_stub import Azure, running
from twin.azure_native import arm_client, tokens
from twin.azure_native.arm_client import ArmClient
from twin.azure_native.metadata import Metadata, load
from twin.azure_native.operations import Kind, Operations
from twin.azure_native.settings import Settings

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arm_client, "_BACKOFF", 0.01)
    monkeypatch.setattr(arm_client, "_POLL", 0.01)


@pytest.fixture(scope="session")
def metadata() -> Metadata:
    return load()


@pytest.fixture
def azure() -> Iterator[Azure]:
    with running() as stub:
        yield stub


@pytest.fixture
def cancelled() -> threading.Event:
    return threading.Event()


@pytest.fixture
def operations(azure: Azure, metadata: Metadata, cancelled: threading.Event) -> Operations:
    client = ArmClient(azure.endpoint, "token", verify=True)
    return Operations(Settings(SUBSCRIPTION, None, client), metadata, cancelled)


@pytest.fixture
def kind(operations: Operations) -> Callable[[str], Kind]:
    return lambda written: operations.kind(tokens.parse(written), written)
