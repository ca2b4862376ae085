"""What every part of the Azure endpoint works with."""

import datetime as dt
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from twin import faults
from twin.arm import machines
from twin.arm.backend import ClusterBackend
from twin.arm.settings import Settings
from twin.arm.store import Store
from twin.paths import TwinFolder

Document = dict[str, Any]
"""A cluster or pool as stored: the ARM resource in its newest shape, and under `twin` what only the twin knows:
`kind`, `parent`, and for a pool its `machines`, for a cluster its `suffix`."""

CLUSTERS, POOLS, GROUPS = "managedClusters", "agentPools", "resourceGroups"


@dataclass
class Service:
    """The simulated Azure: its memory, the machines behind it, and the faults that are on."""

    folder: TwinFolder
    store: Store
    backend: ClusterBackend
    _plan_locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self.store.settings()

    def faults(self) -> dict[str, str | None]:
        """Return the faults that are on now."""
        return faults.active(self.folder.faults)

    def fault(self, name: str, pool: str | None = None) -> bool:
        """Say whether a fault is on, for this pool if it was switched on for one pool only."""
        on = self.faults()
        return name in on and (on[name] is None or on[name] == pool)

    def update(self, id_: str, change: Callable[[Document], None]) -> Document | None:
        """Change a stored cluster or pool in one transaction; None when there is no such resource."""
        with self.store.transaction():
            document = self.store.get(id_)
            if document is None or "twin" not in document:
                return None
            change(document)
            self.store.put(document["twin"]["kind"], document, document["twin"]["parent"])
        return document

    def publish(self, cluster_id: str) -> None:
        """Write the plan of a cluster's nodes; nothing happens when the cluster is gone."""
        with self._plan_locks[cluster_id]:
            cluster = self.store.get(cluster_id)
            if cluster is None:
                return
            pools = self.store.resources(POOLS, cluster_id)
            self.backend.set_plan(cluster_id, machines.cluster_plan(cluster, pools))


def now() -> str:
    """Return the time as Azure writes it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
