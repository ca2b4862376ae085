"""The machines behind the Azure endpoint: one control plane per cluster, kept running by the daemon."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import lightkube
from lightkube.config.kubeconfig import KubeConfig

from twin import faults, kubeconfig
from twin.controlplane import ControlPlane
from twin.files import read_object, replace_text, unreadable
from twin.nodeplan import ClusterPlan
from twin.paths import TwinFolder

_RECORD = "cluster.json"


@dataclass
class _Cluster:
    """A cluster's control plane and the plan its nodes follow."""

    control_plane: ControlPlane
    lock: threading.Lock
    plan: ClusterPlan
    shown: dict[str, str | None] | None = None
    """The faults that it shows; None before it was told."""


class Machines:
    """Implements `twin.arm.backend.ClusterBackend` with real control planes.

    What exists is recorded in each cluster's folder, so that a daemon that starts again finds the same
    clusters, at the same versions, whatever ended the one before.
    """

    def __init__(self, folder: TwinFolder, tools: Mapping[str, Path]) -> None:
        self._folder = folder
        self._tools = tools
        self._clusters: dict[str, _Cluster] = {}
        self._guard = threading.Lock()
        self._faults: dict[str, str | None] = faults.active(folder.faults)

    def resume(self) -> None:
        """Start every recorded cluster again, all at once; raises TwinError when one can't be."""
        records = list(self._records())
        with ThreadPoolExecutor(max_workers=max(1, len(records))) as pool:
            for started in [pool.submit(self.ensure_control_plane, *record) for record in records]:
                started.result()
        self._write_kubeconfig()

    def ensure_control_plane(self, cluster_id: str, version: str) -> None:
        """Have the cluster's control plane run at `version`; blocks until its API server is ready."""
        cluster = self._cluster(cluster_id)
        with cluster.lock:
            record = {"id": cluster_id, "version": version}
            replace_text(self._path(cluster_id) / _RECORD, json.dumps(record))
            self._apply_faults(cluster)
            cluster.control_plane.start(version)
        self._write_kubeconfig()

    def remove_control_plane(self, cluster_id: str) -> None:
        """Stop the cluster's control plane and forget its data."""
        cluster = self._cluster(cluster_id)
        with self._guard:  # first, so that nobody reads files of a folder that is being deleted
            self._clusters.pop(cluster_id, None)
        with cluster.lock:
            (self._path(cluster_id) / _RECORD).unlink(missing_ok=True)
            cluster.control_plane.destroy()
        self._write_kubeconfig()

    def set_plan(self, cluster_id: str, plan: ClusterPlan) -> None:
        """Give the cluster exactly these nodes, with the node faults that are switched on."""
        cluster = self._cluster(cluster_id)
        with cluster.lock:
            cluster.plan = plan
            self._apply_faults(cluster)

    def kubeconfig(self, cluster_id: str, user: Literal["admin", "user"]) -> str:
        """Return a kubeconfig (YAML) of the cluster for that user."""
        return self._cluster(cluster_id).control_plane.kubeconfig(user)

    def client(self, cluster_id: str) -> lightkube.Client:
        """Return an administrator's client of the cluster."""
        config = KubeConfig.from_dict(kubeconfig.parse(self.kubeconfig(cluster_id, "admin")))
        return lightkube.Client(config=config, trust_env=False)

    def tend(self) -> list[str]:
        """Bring back what died and follow the fault switches; returns what there is to log."""
        self._faults = faults.active(self._folder.faults)
        lines: list[str] = []
        for cluster_id, cluster in self._snapshot():
            # A cluster whose lock is held is just being changed; its turn comes a second later.
            if cluster.lock.acquire(blocking=False):
                try:
                    if cluster.shown != self._faults:
                        self._apply_faults(cluster)
                    lines += [f"{cluster_id}: {line}" for line in cluster.control_plane.tend()]
                finally:
                    cluster.lock.release()
        return lines

    def stop(self) -> None:
        """Stop all control planes; their data stays."""
        clusters = self._snapshot()
        with ThreadPoolExecutor(max_workers=max(1, len(clusters))) as pool:
            for stopped in [pool.submit(cluster.control_plane.stop) for _, cluster in clusters]:
                stopped.result()

    def _snapshot(self) -> list[tuple[str, _Cluster]]:
        with self._guard:
            return sorted(self._clusters.items())

    def _path(self, cluster_id: str) -> Path:
        # The name is for people; the digest tells clusters of one name in two resource groups apart.
        digest = hashlib.sha256(cluster_id.encode()).hexdigest()[:8]
        return self._folder.clusters / f"{cluster_id.rsplit('/', 1)[-1]}-{digest}"

    def _cluster(self, cluster_id: str) -> _Cluster:
        with self._guard:
            if cluster_id not in self._clusters:
                path = self._path(cluster_id)
                path.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._clusters[cluster_id] = _Cluster(
                    ControlPlane(path, self._tools), threading.Lock(), _last_plan(path / "nodes.json")
                )
            return self._clusters[cluster_id]

    def _records(self) -> Iterator[tuple[str, str]]:
        for file in sorted(self._folder.clusters.glob(f"*/{_RECORD}")):
            record = read_object(file)
            if not {"id", "version"} <= record.keys():
                raise unreadable(file, "id or version is missing")
            yield str(record["id"]), str(record["version"])

    def _apply_faults(self, cluster: _Cluster) -> None:
        shown = {name: arg for name, arg in self._faults.items() if faults.FAULTS[name].shown_by == "nodes"}
        cluster.control_plane.set_plan(cluster.plan.model_copy(update={"faults": shown}))
        cluster.control_plane.hold_apiserver("apiserver-down" in self._faults)
        cluster.shown = self._faults

    def _write_kubeconfig(self) -> None:
        """Write the file that `twin exec` hands out: a context per cluster."""
        with self._guard:
            clusters = sorted(self._clusters.items())
            texts = {
                cluster_id.rsplit("/", 1)[-1]: cluster.control_plane.kubeconfig("admin")
                for cluster_id, cluster in clusters
                if cluster.control_plane.version is not None
            }
            replace_text(self._folder.kubeconfig, kubeconfig.merge(texts))


def _last_plan(file: Path) -> ClusterPlan:
    try:
        return ClusterPlan.model_validate_json(file.read_text())
    except FileNotFoundError:
        return ClusterPlan()
    except ValueError as error:
        raise unreadable(file, error) from error
