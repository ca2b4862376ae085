"""Components on Pulumi's mock engine, with Azure and the cluster played by small fakes."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts
from aksgpu.facts.pools import PoolFacts, PoolForm
from aksgpu.readers.azure import LiveCluster, LivePool
from components import live

SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
CLUSTER_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"


class FakeAzure:
    """Azure, as far as components ask it."""

    def __init__(self) -> None:
        self.feature = "Registered"
        self.coming: list[str] = []
        self.provider_refreshed = False
        self.accepted: dict[str, str | None] = {
            "state": "Succeeded",
            "os_sku": "Ubuntu",
            "gpu_driver": "Install",
            "management_mode": "Managed",
            "driver_mode": "DRA",
        }
        self.version, self.node_provisioning = "1.35.4", "Manual"
        self.has_cluster = True

    def feature_state(self, feature: str) -> str:
        if self.coming:
            self.feature = self.coming.pop(0)
        return self.feature

    def register_feature(self, feature: str) -> str:
        self.feature = "Registering"
        return self.feature

    def register_provider(self) -> str:
        self.provider_refreshed = True
        return "Registered"

    def pool(self, group: str, cluster: str, name: str) -> LivePool | None:
        facts: dict[str, Any] = {key: value for key, value in self.accepted.items() if key != "state"}
        return LivePool(
            id=f"{CLUSTER_ID}/agentPools/{name}",
            provisioning_state=self.accepted["state"],
            facts=PoolFacts(place=Place(object=name), form=PoolForm(kind="live"), name=name, **facts),
        )

    def kubeconfig(self, group: str, cluster: str) -> str:
        return "kubeconfig of the cluster"

    def cluster(self, group: str, name: str) -> LiveCluster | None:
        if not self.has_cluster:
            return None
        facts = ClusterFacts(
            place=Place(object=name), kubernetes_version=self.version, node_provisioning=self.node_provisioning
        )
        return LiveCluster(CLUSTER_ID, "eastus", "Succeeded", False, facts, ())


class FakeKube:
    """A cluster, as far as components ask it."""

    def __init__(self) -> None:
        self.versions = ["v1"]
        self.objects: dict[str, dict[str, Any]] = {}

    def api_versions(self, group: str) -> list[str]:
        return self.versions

    def get(self, path: str) -> dict[str, Any] | None:
        return self.objects.get(path)


@dataclass
class World(pulumi.runtime.Mocks):
    """What was registered, and what Azure and the cluster say."""

    azure: FakeAzure = field(default_factory=FakeAzure)
    kube: FakeKube = field(default_factory=FakeKube)
    made: dict[str, pulumi.runtime.MockResourceArgs] = field(default_factory=dict)

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.made[args.typ.rpartition(":")[2] + " " + args.name] = args
        identity = f"{CLUSTER_ID}/agentPools/{args.name}" if _is_pool(args) else CLUSTER_ID
        return identity, dict(args.inputs)

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        if args.token.endswith(":getClientConfig"):
            return {"subscriptionId": SUBSCRIPTION}, []
        raise AssertionError(f"unexpected call of {args.token}")

    def one(self, kind: str) -> dict[str, Any]:
        """Return the inputs of the only resource of a kind."""
        found = [args.inputs for key, args in self.made.items() if key.partition(" ")[0] == kind]
        assert len(found) == 1, (kind, sorted(self.made))
        return found[0]


def _is_pool(args: pulumi.runtime.MockResourceArgs) -> bool:
    return args.typ in {"azure-native:resources:Resource", "azure-native:containerservice:AgentPool"}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A mock engine and the two fakes."""
    made = World()
    monkeypatch.setattr(live, "azure", lambda subscription: made.azure)
    monkeypatch.setattr(live, "kube", lambda kubeconfig: made.kube)

    def registered(hook: pulumi.ResourceHook) -> asyncio.Future[None]:
        """The mock engine never runs hooks; without this each program would start a callback server."""
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    monkeypatch.setattr("pulumi.resource_hooks.register_resource_hook", registered)
    return made


Program = Callable[[], None]


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """One loop for all programs, as the SDK keeps things of one loop in globals."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield made
    made.close()
    # Python 3.11 stumbles when coroutines of refused programs are collected while it parses a module.
    gc.collect()


async def _to_the_end(program: Program) -> None:
    """Run a program; a refused one leaves tasks that wait for what will never come."""
    try:
        await pulumi.runtime.stack.run_pulumi_func(program)
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        pulumi.runtime.settings.SETTINGS.outputs.clear()


@pytest.fixture
def run(world: World, loop: asyncio.AbstractEventLoop) -> Callable[..., World]:
    """Run a program on the mock engine; what it raises, or what one of its checks raises, comes out."""

    def start(program: Program, *, preview: bool = False) -> World:
        pulumi.runtime.set_mocks(world, project="aksgpu", stack="dev", preview=preview, organization="organization")
        loop.run_until_complete(_to_the_end(program))
        return world

    return start
