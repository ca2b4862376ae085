"""A tiny Azure for the plugin's tests: a tree of resources, scripted answers, and every request on record."""

import json
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Recorded:
    method: str
    path: str
    query: dict[str, str]
    body: Any
    token: str


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Azure:
    """Answers from the script of a method and path first, and else from the resources."""

    endpoint: str = ""
    resources: dict[str, dict[str, Any]] = field(default_factory=dict)
    scripts: dict[tuple[str, str], deque[Answer]] = field(default_factory=dict)
    requests: list[Recorded] = field(default_factory=list)

    def script(self, method: str, path: str, *answers: Answer) -> None:
        self.scripts[method, path] = deque(answers)

    def sent(self, method: str) -> list[Recorded]:
        return [request for request in self.requests if request.method == method]

    def answer(self, request: Recorded) -> Answer:
        self.requests.append(request)
        script = self.scripts.get((request.method, request.path))
        if script:
            return script.popleft()
        if request.method == "PUT":
            stored = {"id": request.path, "name": request.path.rsplit("/", 1)[-1], **(request.body or {})}
            self.resources[request.path] = stored
            return Answer(201, stored)
        found = self.resources.get(request.path)
        if request.method == "DELETE":
            return Answer(200 if self.resources.pop(request.path, None) else 204)
        if found is None:
            return Answer(404, {"error": {"code": "ResourceNotFound", "message": "not there"}})
        return Answer(200, found)


@contextmanager
def running() -> Generator[Azure]:
    azure = Azure()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            text = self.rfile.read(length)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            token = self.headers.get("Authorization", "")
            request = Recorded(self.command, parts.path, query, json.loads(text) if text else None, token)
            answer = azure.answer(request)
            content = b"" if answer.body is None else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(content)))
            for key, value in answer.headers.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 - the names http.server looks up

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    azure.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield azure
    finally:
        server.shutdown()
        server.server_close()
