"""The programs of one cluster, started, watched and stopped in the order they depend on each other."""

import re
import shutil
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import httpx2
import yaml

from twin import processes
from twin.controlplane import commands, ports
from twin.controlplane.certificates import Certificates
from twin.controlplane.restarts import Restarts
from twin.errors import TwinError
from twin.files import replace_text
from twin.nodeplan import ClusterPlan
from twin.processes import Child

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_CLIENTS = ("kube-scheduler", "kube-controller-manager", "aksgpu-nodes")
"""The parts that talk to the API server, and don't run without it."""
_PARTS = ("etcd", "kube-apiserver", *_CLIENTS)
_READY_SECONDS = 120.0
_POLL_SECONDS = 0.05
# Killing loses nothing: all that matters is in etcd's log. An API server that is watched takes longer.
_GRACE_SECONDS = 2.0
# Between Go's default of 100 (a fifth more memory) and 50 (a quarter more work while the API server starts).
_ENVIRONMENT = {"GOGC": "75"}


class ControlPlane:
    """One cluster's etcd, API server, scheduler, controller manager and simulated kubelets.

    `folder` holds all it remembers (`etcd/`, `certs/`, `ports.json`, `nodes.json`, `version`), says (`logs/`)
    and runs (`run/NAME.json`). `tools` maps program names to their files; without `aksgpu-nodes` the
    cluster has no nodes. Methods may be called from any thread.
    """

    def __init__(self, folder: Path, tools: Mapping[str, Path]) -> None:
        self._folder = folder
        self._tools = tools
        self._parts = [part for part in _PARTS if part in tools]
        self._certificates = Certificates(folder / "certs")
        self._children = {
            part: Child(folder / "run" / f"{part}.json", folder / "logs" / f"{part}.log") for part in _PARTS
        }
        self._restarts = Restarts()
        self._lock = threading.RLock()
        self._ports: ports.Ports | None = None
        """Set while this object runs the control plane."""
        self._held = False

    @property
    def version(self) -> str | None:
        """The version that runs or ran last, e.g. `1.35.4`; None before the first start."""
        try:
            return self._version_file.read_text()
        except FileNotFoundError:
            return None

    @property
    def server(self) -> str:
        """The URL of the API server, the same over restarts; raises TwinError before the first start."""
        kept = self._ports or ports.read(self._folder / "ports.json")
        if kept is None:
            raise TwinError(f"The cluster in {self._folder} was never started, so it has no address yet.")
        return f"https://127.0.0.1:{kept.apiserver}"

    def start(self, version: str) -> None:
        """Have the control plane run at `version`, e.g. `1.35.4`; returns when pods can be created.

        Idempotent. Another version than the running one restarts everything but etcd over the same data.
        Raises TwinError when it can't be started; then nothing is left running.
        """
        if not _VERSION.fullmatch(version):
            raise TwinError(f"'{version}' is not a full Kubernetes version; write one such as 1.35.4.")
        with self._lock:
            try:
                self._prepare()
                if version != self.version:
                    self._end(*_CLIENTS)
                    self._end("kube-apiserver")
                    replace_text(self._version_file, version)
                self._start_parts()
            except OSError as error:
                self.stop()
                raise TwinError(
                    f"The control plane of the cluster in {self._folder} can't be started: "
                    f"{error.strerror or error} ({error.filename or self._folder}). Make room or mend the "
                    "permissions there, and try again."
                ) from error
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """Stop everything, also what an earlier process left running; the data stays."""
        with self._lock:
            self._ports = None
            self._end(*_CLIENTS)
            # Before etcd: an API server without one waits a minute for it before it ends.
            self._end("kube-apiserver")
            self._end("etcd")

    def tend(self) -> list[str]:
        """Start again what died; returns a line for each. Returns at once when a start or stop is under way."""
        if not self._lock.acquire(blocking=False):
            return []
        try:
            return self._restart_dead() if self._ports else []
        finally:
            self._lock.release()

    def hold_apiserver(self, held: bool) -> None:
        """Stop the API server and keep it stopped, or let it come back."""
        with self._lock:
            self._held = held
            if held:
                self._end("kube-apiserver")

    def kubeconfig(self, user: Literal["admin", "user"]) -> str:
        """Return a kubeconfig (YAML) for the credential that Azure calls the cluster's admin or user."""
        return yaml.safe_dump(self._certificates.kubeconfig(user, self.server, self._folder.name), sort_keys=False)

    def set_plan(self, plan: ClusterPlan) -> None:
        """Give the cluster exactly these nodes; takes effect at once, or with the next start."""
        replace_text(self._folder / "nodes.json", plan.model_dump_json(by_alias=True))

    def destroy(self) -> None:
        """Stop everything and delete the folder."""
        with self._lock:
            self.stop()
            shutil.rmtree(self._folder, ignore_errors=True)

    def processes(self) -> dict[str, int]:
        """Return name and pid of each part that runs."""
        running = {part: child.process() for part, child in self._children.items()}
        return {part: process.pid for part, process in running.items() if process}

    @property
    def _version_file(self) -> Path:
        return self._folder / "version"

    def _prepare(self) -> None:
        if self._ports:
            return
        self.stop()
        for name in ("etcd", "logs", "run"):
            (self._folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        self._certificates.provide()
        self._ports = ports.provide(self._folder / "ports.json")
        self._certificates.write_kubeconfigs(self.server, self._folder.name)
        if not (self._folder / "nodes.json").exists():
            self.set_plan(ClusterPlan())

    def _start_parts(self) -> None:
        for part in self._parts:
            if part == "kube-apiserver":
                self._wait_for_etcd()
            if part in _CLIENTS:
                # Started earlier they would only compete with the API server for the processor.
                self._wait_for("/readyz")
            if self._may_run(part) and not self._children[part].process():
                self._launch(part)
        # The controller manager makes it; until then pods are refused.
        self._wait_for("/api/v1/namespaces/default/serviceaccounts/default")

    def _launch(self, part: str) -> None:
        self._children[part].start([self._tools[part], *self._arguments(part)], _ENVIRONMENT)
        self._restarts.started(part)

    def _arguments(self, part: str) -> list[str | Path]:
        current, version = self._ports, self.version
        if current is None or version is None:
            raise TwinError(f"The cluster in {self._folder} is not running.")
        build: dict[str, Callable[[], list[str | Path]]] = {
            "etcd": lambda: commands.etcd(self._folder, self._certificates, current),
            "kube-apiserver": lambda: commands.apiserver(self._certificates, current, version),
            "kube-scheduler": lambda: commands.scheduler(self._certificates, version),
            "kube-controller-manager": lambda: commands.controller_manager(self._certificates, version),
            "aksgpu-nodes": lambda: commands.nodes(self._folder, self._certificates, current),
        }
        return build[part]()

    def _restart_dead(self) -> list[str]:
        lines = []
        for part in self._parts:
            child = self._children[part]
            if child.process() or not self._may_run(part) or not self._restarts.due(part):
                continue
            lines.append(f"{part} had ended; its last words: {child.log_end(1)}")
            try:
                self._launch(part)
            except OSError as error:  # a full disk, say; the next turn tries again
                self._restarts.started(part)
                lines.append(f"{part} can't be started again: {error}")
        return lines

    def _may_run(self, part: str) -> bool:
        if part == "kube-apiserver":
            return not self._held
        return part == "etcd" or self._children["kube-apiserver"].process() is not None

    def _wait_for(self, path: str) -> None:
        """Return once the API server answers `path` with 200; at once while it is held down on purpose."""
        deadline = time.monotonic() + _READY_SECONDS
        with self._client() as client:
            while not self._held and not _answers(client, path):
                self._check_alive("etcd", "kube-apiserver")
                if time.monotonic() > deadline:
                    raise TwinError(self._story(f"{path} did not answer in {_READY_SECONDS:.0f} s", "kube-apiserver"))
                time.sleep(_POLL_SECONDS)

    def _wait_for_etcd(self) -> None:
        """Return once etcd listens: an API server that finds no etcd waits a second before it tries again."""
        deadline = time.monotonic() + _READY_SECONDS
        while self._ports and not ports.listens(self._ports.etcd):
            self._check_alive("etcd")
            if time.monotonic() > deadline:
                raise TwinError(self._story("etcd did not listen", "etcd"))
            time.sleep(_POLL_SECONDS)

    def _check_alive(self, *parts: str) -> None:
        for part in parts:
            if not self._children[part].process():
                raise TwinError(self._story(f"{part} ended at once", part))

    def _story(self, what: str, part: str) -> str:
        child = self._children[part]
        return (
            f"The control plane of the cluster in {self._folder} did not start: {what}. "
            f"The end of {child.log}:\n{child.log_end(5)}"
        )

    def _client(self) -> httpx2.Client:
        context = ssl.create_default_context(cafile=self._certificates.certificate("ca"))
        context.load_cert_chain(self._certificates.certificate("admin"), self._certificates.key("admin"))
        return httpx2.Client(base_url=self.server, verify=context, timeout=5, trust_env=False)

    def _end(self, *parts: str) -> None:
        processes.end([self._children[part] for part in parts], _GRACE_SECONDS)


def _answers(client: httpx2.Client, path: str) -> bool:
    try:
        return client.get(path).status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False
