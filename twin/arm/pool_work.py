"""The work behind agent pool operations: bring a pool's machines to what is stored, in small saved steps."""

import math
from collections.abc import Callable, Iterator
from typing import Any

from twin.arm import kube, machines
from twin.arm.errors import ArmError
from twin.arm.machines import Machine
from twin.arm.operations import Aborted, Progress
from twin.arm.service import Document, Service


class PoolWork:
    """Scales and upgrades one pool. Every step is stored first and then carried out, so it can be repeated."""

    def __init__(self, service: Service, progress: Progress, pool_id: str) -> None:
        self._service = service
        self._progress = progress
        self._pool_id = pool_id
        self._cluster_id = pool_id.partition("/agentpools/")[0]

    # What is stored

    @property
    def pool(self) -> Document:
        """The pool as it is stored now."""
        return self._read(self._pool_id)

    def _read(self, id_: str) -> Document:
        document = self._service.store.get(id_)
        if document is None:
            raise Aborted
        return document

    def _machines(self, wanted: Callable[[Machine], bool]) -> list[Machine]:
        return [machine for machine in self.pool["twin"]["machines"] if wanted(machine)]

    def _change(self, change: Callable[[list[Machine]], None]) -> None:
        """Change the stored machines, then tell the nodes."""
        self._progress.check()
        if self._service.update(self._pool_id, lambda pool: change(pool["twin"]["machines"])) is None:
            raise Aborted
        self._service.publish(self._cluster_id)

    def _name(self, machine: Machine) -> str:
        return machines.node_name(self._read(self._cluster_id), self.pool, machine)

    # The work

    def run(self) -> None:
        """Bring the pool to its stored count, version and image."""
        self._show_faults()
        self._service.publish(self._cluster_id)
        self._grow()
        self._shrink()
        self._settle()
        self._upgrade()

    def empty(self) -> None:
        """Remove all machines, without draining them, as AKS does when a pool is deleted."""
        self._change(list.clear)
        self._wait_gone(None)

    def _show_faults(self) -> None:
        name, properties = self.pool["name"], self.pool["properties"]
        if self._service.fault("pool-failed", name):
            raise ArmError(
                409,
                "ReconcileVMSSAgentPoolFailed",
                f"Reconcile VMSS agent pool {name} failed: the fault pool-failed is on.",
            )
        present = len(self._machines(lambda _: True))
        if self._service.fault("allocation-failed") and present < properties["count"]:
            raise ArmError(
                409,
                "AllocationFailed",
                f"Allocation failed. We do not have sufficient capacity for the requested VM size "
                f"{properties['vmSize']} in this region. Read more about improving likelihood of allocation "
                "success at https://aka.ms/allocation-guidance",
            )

    def _grow(self) -> None:
        def grow(stored: list[Machine]) -> None:
            missing = count - sum(not machine["surge"] for machine in stored)
            for _ in range(missing):
                stored.append(machines.new_machine(stored, version, image))

        properties = self.pool["properties"]
        count, version, image = _wanted(properties)
        if sum(not machine["surge"] for machine in self.pool["twin"]["machines"]) < count:
            self._change(grow)

    def _shrink(self) -> None:
        regular = self._machines(lambda machine: not machine["surge"])
        surplus = sorted(regular, key=lambda machine: machine["index"])[self.pool["properties"]["count"] :]
        for machine in reversed(surplus):
            self._drain(machine)
            self._drop(machine)

    def _upgrade(self) -> None:
        properties = self.pool["properties"]
        _, version, image = _wanted(properties)

        def is_old(machine: Machine) -> bool:
            return machine["absent"] or (machine["version"], machine["image"]) != (version, image)

        if self._machines(lambda machine: not machine["surge"] and is_old(machine)):
            surge, batch = _batch(properties)
            self._add_surge(surge, version, image)
            old = self._machines(lambda machine: not machine["surge"] and is_old(machine))
            stuck = [name for group in _groups(old, batch) for name in self._replace(group, version, image)]
            if stuck:
                raise _not_drained(stuck)
        self._remove_surge()

    def _add_surge(self, wanted: int, version: str, image: str) -> None:
        def add(stored: list[Machine]) -> None:
            for _ in range(wanted - sum(machine["surge"] for machine in stored)):
                stored.append(machines.new_machine(stored, version, image, surge=True))

        self._change(add)
        self._settle()

    def _remove_surge(self) -> None:
        for machine in self._machines(lambda machine: machine["surge"]):
            self._drain(machine)
            self._drop(machine)

    def _replace(self, group: list[Machine], version: str, image: str) -> list[str]:
        """Drain and reimage a few machines at once; return the nodes that could not be drained."""
        drained, stuck = [], []
        for machine in group:
            (drained if self._drain_for_upgrade(machine) else stuck).append(machine)
        indexes = {machine["index"] for machine in drained}

        def take_away(stored: list[Machine]) -> None:
            for machine in stored:
                if machine["index"] in indexes:
                    machine["absent"] = True

        def bring_back(stored: list[Machine]) -> None:
            for machine in stored:
                if machine["index"] in indexes:
                    machine.update(version=version, image=image, absent=False)

        self._change(take_away)
        self._wait_gone({self._name(machine) for machine in drained})
        self._change(bring_back)
        self._settle()
        self._progress.wait(self._minutes("nodeSoakDurationInMinutes", 0))
        return [self._name(machine) for machine in stuck]

    def _drain_for_upgrade(self, machine: Machine) -> bool:
        """Return False when the node could not be drained and is set aside (behaviour Cordon)."""
        try:
            self._drain(machine)
        except ArmError:
            client, name = self._service.backend.client(self._cluster_id), self._name(machine)
            if _upgrade_settings(self.pool["properties"]).get("undrainableNodeBehavior") == "Cordon":
                kube.quarantine(client, name)
                return False
            kube.cordon(client, name, on=False)
            raise
        return True

    # Single steps

    def _drain(self, machine: Machine) -> None:
        if machine["absent"]:
            return
        client, name = self._service.backend.client(self._cluster_id), self._name(machine)
        self._progress.until(lambda: kube.cordon(client, name), self._service.settings.ready_seconds)
        seconds = self._minutes("drainTimeoutInMinutes", 30)
        kube.drain(client, name, self._progress, seconds, self._way_to_evict())

    def _way_to_evict(self) -> kube.Evict:
        if self._service.fault("drain-blocked", self.pool["name"]):
            return kube.refuse
        override = self._read(self._cluster_id)["properties"].get("upgradeSettings", {}).get("overrideSettings", {})
        if override.get("forceUpgrade") and override.get("until"):
            return kube.delete_pod
        return kube.evict

    def _drop(self, machine: Machine) -> None:
        def drop(stored: list[Machine]) -> None:
            stored[:] = [other for other in stored if other["index"] != machine["index"]]

        name = self._name(machine)
        self._change(drop)
        self._wait_gone({name})

    def _minutes(self, key: str, default: int) -> float:
        minutes = _upgrade_settings(self.pool["properties"]).get(key, default)
        return minutes * self._service.settings.minute_seconds

    # Waiting

    def _settle(self) -> None:
        """Wait until every machine's node is Ready (or, with the fault node-not-ready, is there)."""
        pool, cluster = self.pool, self._read(self._cluster_id)
        expected = {
            machines.node_name(cluster, pool, machine): f"v{machine['version']}"
            for machine in pool["twin"]["machines"]
            if not machine["absent"]
        }
        if not expected:
            return
        client = self._service.backend.client(self._cluster_id)
        missing = set(expected)

        def here() -> bool:
            lenient = self._service.fault("node-not-ready", pool["name"])
            found = kube.nodes(client, pool["name"])
            good = {name for name, (ready, _) in found.items() if ready or lenient}
            missing.clear()
            missing.update(name for name in expected if name not in good or found[name][1] != expected[name])
            return not missing

        if not self._progress.until(here, self._service.settings.ready_seconds):
            raise _not_ready(pool["name"], sorted(missing), self._service.settings.ready_seconds)

    def _wait_gone(self, names: set[str] | None) -> None:
        """Wait until these nodes, or all of the pool, are gone."""
        client, pool = self._service.backend.client(self._cluster_id), self.pool["name"]

        def gone() -> bool:
            left = set(kube.nodes(client, pool))
            return not (left if names is None else left & names)

        if not self._progress.until(gone, self._service.settings.ready_seconds):
            raise ArmError(409, "ReconcileVMSSAgentPoolFailed", f"The nodes of agent pool {pool} did not go away.")


def _wanted(properties: dict[str, Any]) -> tuple[int, str, str]:
    return properties["count"], properties["currentOrchestratorVersion"], properties["nodeImageVersion"]


def _upgrade_settings(properties: dict[str, Any]) -> dict[str, Any]:
    return properties.get("upgradeSettings", {})


def surge_nodes(properties: dict[str, Any]) -> int:
    """Return how many nodes an upgrade of the pool adds for its time."""
    return _share(_upgrade_settings(properties).get("maxSurge", "10%"), properties["count"])


def _batch(properties: dict[str, Any]) -> tuple[int, int]:
    """Return how many surge nodes to add and how many nodes to replace at once."""
    surge = surge_nodes(properties)
    unavailable = _share(_upgrade_settings(properties).get("maxUnavailable", "0"), properties["count"])
    return surge, max(surge, unavailable, 1)


def _share(text: str, count: int) -> int:
    """Return `33%` or `2` of `count` nodes, rounded up."""
    return math.ceil(int(text[:-1]) * count / 100) if text.endswith("%") else int(text)


def _groups(items: list[Machine], size: int) -> Iterator[list[Machine]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _not_drained(nodes: list[str]) -> ArmError:
    return ArmError(
        409,
        "UpgradeFailed",
        f"The upgrade left out the nodes {', '.join(nodes)}, which could not be drained: Cannot evict pod as it "
        "would violate the pod's disruption budget. They are cordoned and labelled "
        "kubernetes.azure.com/upgrade-status=Quarantined.",
    )


def _not_ready(pool: str, nodes: list[str], seconds: float) -> ArmError:
    return ArmError(
        409,
        "ReconcileVMSSAgentPoolFailed",
        f"Reconcile VMSS agent pool {pool} failed: {len(nodes)} nodes are not Ready after {seconds:g} seconds: "
        f"{', '.join(nodes[:10])}.",
    )
