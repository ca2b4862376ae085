"""The Kubernetes reader against a small HTTP server that answers as an API server does."""

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from aksgpu.readers.kube import Kube, KubeError


class ApiServer(BaseHTTPRequestHandler):
    """Answers from a table: path with query to status and body."""

    answers: ClassVar[dict[str, tuple[int, object]]] = {}
    tokens: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.tokens.append(self.headers.get("Authorization", ""))
        status, body = self.answers.get(self.path, (404, {"message": "not found"}))
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    ApiServer.answers, ApiServer.tokens = {}, []
    made = ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()
    thread.join()


def kubeconfig(server: str, user: Mapping[str, object] | None = None) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "it",
            "clusters": [{"name": "it", "cluster": {"server": server}}],
            "users": [{"name": "it", "user": user or {"token": "plain"}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        }
    )


def test_a_group_that_is_not_served_has_no_versions(server: str):
    ApiServer.answers = {"/apis/resource.k8s.io": (200, {"versions": [{"version": "v1"}, {"version": "v1beta1"}]})}
    kube = Kube(kubeconfig(server))
    assert kube.api_versions("resource.k8s.io") == ["v1", "v1beta1"]
    assert kube.api_versions("none.example") == []


def test_what_is_not_there_is_none(server: str):
    assert Kube(kubeconfig(server)).device_class("aks-dra-gpu") is None


def test_lists_are_read_page_by_page(server: str):
    path = "/api/v1/nodes?limit=500&labelSelector=kubernetes.azure.com%2Fagentpool%3Dgpunp"
    ApiServer.answers = {
        path: (200, {"metadata": {"continue": "next"}, "items": [{"metadata": {"name": "one"}}]}),
        f"{path}&continue=next": (200, {"metadata": {}, "items": [{"metadata": {"name": "two"}}]}),
    }
    assert [node["metadata"]["name"] for node in Kube(kubeconfig(server)).nodes("gpunp")] == ["one", "two"]


def test_an_exec_plugin_is_asked_for_the_token(server: str, tmp_path: Path):
    credential = {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential"}
    plugin = tmp_path / "kubelogin.py"
    plugin.write_text(f"print('''{json.dumps({**credential, 'status': {'token': 'from-the-plugin'}})}''')")
    user = {"exec": {"apiVersion": credential["apiVersion"], "command": sys.executable, "args": [str(plugin)]}}
    ApiServer.answers = {"/api/v1/nodes?limit=500&labelSelector=": (200, {"metadata": {}, "items": []})}
    kube = Kube(kubeconfig(server, user))
    assert kube.nodes() == []
    assert ApiServer.tokens[-1] == "Bearer from-the-plugin"


def test_a_missing_exec_plugin_is_named(server: str):
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "kubelogin-is-missing"}}
    with pytest.raises(KubeError, match="kubelogin-is-missing"):
        Kube(kubeconfig(server, user)).nodes()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "az aks get-credentials"),
        (403, "lacks the permission"),
        (500, "the API server answered 500: because of that"),
    ],
)
def test_a_refusal_is_one_paragraph(server: str, status: int, said: str):
    path = "/apis/resource.k8s.io/v1/deviceclasses/aks-dra-gpu"
    ApiServer.answers = {path: (status, {"message": "because of that"})}
    with pytest.raises(KubeError, match=said) as refused:
        Kube(kubeconfig(server)).device_class("aks-dra-gpu")
    assert "because of that" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_log_that_is_not_there_yet_is_empty(server: str):
    path = "/api/v1/namespaces/team/pods/job-x/log?tailLines=20"
    kube = Kube(kubeconfig(server))
    ApiServer.answers = {path: (400, {"message": "container is waiting to start"})}
    assert kube.log("team", "job-x") == ""
    ApiServer.answers = {path: (200, "NVIDIA-SMI 580\n")}
    assert kube.log("team", "job-x") == "NVIDIA-SMI 580\n"


def test_a_cluster_that_does_not_answer_is_one_paragraph():
    with pytest.raises(KubeError, match="can't be reached"):
        Kube(kubeconfig("http://127.0.0.1:1")).nodes()


@pytest.mark.parametrize("text", ["", "not: a kubeconfig", "clusters: []\ncontexts: []\n", "{"])
def test_a_kubeconfig_that_is_none_is_one_paragraph(text: str):
    with pytest.raises(KubeError, match="kubeconfig can't be used"):
        Kube(text).nodes()
