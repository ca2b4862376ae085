"""The Azure endpoint on a real HTTPS server, and Microsoft's own clients to talk to it."""

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from azure.core.credentials import AccessToken
from azure.mgmt.resource.subscriptions import SubscriptionClient

from tests.azure.fake_backend import FakeBackend, FakeCluster
from twin import credentials, faults
from twin.account import SUBSCRIPTION
from twin.arm import create_app
from twin.arm.settings import Settings
from twin.paths import TwinFolder

GROUP = "rg-test"
FAST = Settings(minute_seconds=0.02, registration_seconds=0, poll_milliseconds=10, ready_seconds=5, write_burst=100_000)
A100 = "Standard_NC24ads_A100_v4"
DRA = {"driver": "Install", "nvidia": {"managementMode": "Managed", "driverMode": "DRA"}}


class Token:
    """Hands out the twin's token."""

    def __init__(self, token: str) -> None:
        self._token = token

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        return AccessToken(self._token, int(time.time()) + 3600)


class Endpoint:
    """A running Azure endpoint."""

    def __init__(self, root: Path, settings: Settings = FAST) -> None:
        self.folder = TwinFolder(root)
        credentials.make_private(self.folder)
        credentials.provide(self.folder)
        self.backend = FakeBackend()
        self.settings = settings
        self.port = 0
        self.start()

    def start(self) -> None:
        self.app = create_app(self.folder, self.backend)
        self.azure = self.app.state.azure
        self.azure.service.store.put_settings(self.settings)
        config = uvicorn.Config(
            self.app,
            ssl_certfile=self.folder.server_certificate,
            ssl_keyfile=self.folder.server_certificate,
            log_config=None,
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def client(self, kind: Any, token: str | None = None, **options: Any) -> Any:
        """Return one of Microsoft's clients for this endpoint."""
        secret = token or self.folder.token.read_text()
        arguments = [] if kind is SubscriptionClient else [SUBSCRIPTION]
        return kind(Token(secret), *arguments, base_url=self.url, connection_verify=str(self.folder.ca), **options)

    def cluster(self, name: str, group: str = GROUP) -> FakeCluster:
        """Return the machines behind a cluster."""
        return self.backend.clusters[
            f"/subscriptions/{SUBSCRIPTION}/resourcegroups/{group}/providers/microsoft.containerservice/"
            f"managedclusters/{name}".lower()
        ]

    def fault(self, name: str, argument: str | None = None) -> None:
        faults.switch(self.folder.faults, name, argument, on=True)


def cluster_body(version: str | None = "1.35", **properties: Any) -> dict[str, Any]:
    """Return the body of a small cluster."""
    body: dict[str, Any] = {
        "location": "eastus",
        "identity": {"type": "SystemAssigned"},
        "properties": {
            "dnsPrefix": "test",
            "agentPoolProfiles": [{"name": "sys", "mode": "System", "count": 1, "vmSize": "Standard_D4s_v5"}],
            **properties,
        },
    }
    if version:
        body["properties"]["kubernetesVersion"] = version
    return body


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it didn't happen")
