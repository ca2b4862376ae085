"""The azure-native stand-in, driven by the real Pulumi engine, against the twin's Azure endpoint."""

import base64
import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
from azure.mgmt.containerservice import ContainerServiceClient
from azure.mgmt.resource.features import FeatureClient
from azure.mgmt.resource.resources import ResourceManagementClient
from pulumi import Output, ResourceOptions
from pulumi.automation._stack import ImportResource
from pulumi_azure_native import authorization, containerservice, features, network, resources

from tests.azure.harness import A100, DRA, Endpoint, cluster_body
from tests.engine.azure_native_stack import Engine, resource
from twin.account import SUBSCRIPTION, TENANT

VERSION = "2026-08-02-preview"
RESOURCE_GROUP, CLUSTER, TYPED, GENERIC = (
    "ResourceGroup group",
    "ManagedCluster cluster",
    "AgentPool typed",
    "Resource gpunp",
)
H100 = "Standard_NC40ads_H100_v5"
DEVICE_PLUGIN = {"driver": "Install", "nvidia": {"managementMode": "Managed", "driverMode": "DevicePlugin"}}
REPLACING = ResourceOptions(replace_on_changes=["properties.gpuProfile"], delete_before_replace=True)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    running = Endpoint(tmp_path_factory.mktemp("azure") / "twin")
    running.client(FeatureClient).features.register("Microsoft.ContainerService", "ManagedGPUExperiencePreview")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def engine(endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine(endpoint, tmp_path_factory.mktemp("engine"))


def group(name: str) -> resources.ResourceGroup:
    return resources.ResourceGroup("group", resource_group_name=name, location="eastus")


def cluster(of: resources.ResourceGroup, name: str) -> containerservice.ManagedCluster:
    return containerservice.ManagedCluster(
        "cluster",
        resource_group_name=of.name,
        resource_name_=name,
        dns_prefix=name,
        kubernetes_version="1.35",
        identity={"type": containerservice.ResourceIdentityType.SYSTEM_ASSIGNED},
        agent_pool_profiles=[{"name": "sys", "mode": "System", "count": 1, "vm_size": "Standard_D4s_v5"}],
    )


def generic_pool(of: containerservice.ManagedCluster, group_name: pulumi.Input[str], opts=None, **properties):
    return resources.Resource(
        "gpunp",
        api_version=VERSION,
        resource_group_name=group_name,
        resource_provider_namespace="Microsoft.ContainerService",
        parent_resource_path=of.name.apply(lambda name: f"managedClusters/{name}"),
        resource_type="agentPools",
        resource_name_="gpunp",
        properties={"vmSize": A100, "count": 1, "gpuProfile": DRA} | properties,
        opts=opts,
    )


def typed_pool(of: containerservice.ManagedCluster, group_name: pulumi.Input[str], vm_size: str = A100):
    unknown_to_this_version: Any = DRA
    return containerservice.AgentPool(
        "typed",
        resource_group_name=group_name,
        resource_name_=of.name,
        agent_pool_name="typed",
        vm_size=vm_size,
        count=1,
        gpu_profile=unknown_to_this_version,
    )


@pytest.fixture
def aks(endpoint: Endpoint) -> Any:
    """Return Microsoft's client: what another tool than Pulumi sees and does."""
    return endpoint.client(ContainerServiceClient)


def gpu_profile(aks: Any, name: str, pool: str) -> dict[str, Any]:
    return aks.agent_pools.get(f"rg-{name}", name, pool).as_dict()["properties"]["gpuProfile"]


def test_the_life_of_a_stack(engine: Engine, aks: Any) -> None:
    stack = engine.stack("life")

    def program(count: int = 1, size: str = A100, gpu: dict[str, Any] = DRA):
        def run() -> None:
            of = group("rg-life")
            made = cluster(of, "life")
            typed_pool(made, of.name, size)
            pool = generic_pool(made, of.name, REPLACING, count=count, gpuProfile=gpu)
            pulumi.export("pool", pool.id)
            pulumi.export("driverMode", pool.properties["gpuProfile"]["nvidia"]["driverMode"])

        return run

    created = stack.up(program())
    assert created.changes == dict.fromkeys((RESOURCE_GROUP, CLUSTER, TYPED, GENERIC), "create")
    assert created.outputs["driverMode"] == "DRA"
    assert created.outputs["pool"].endswith("/managedClusters/life/agentPools/gpunp")
    assert gpu_profile(aks, "life", "gpunp")["nvidia"]["driverMode"] == "DRA"
    assert gpu_profile(aks, "life", "typed") == {"driver": "Install"}, "a driver-only pool, without an error"
    assert resource(stack, "typed")["inputs"]["gpuProfile"] == DRA, (
        "the engine's state still shows what the program said"
    )

    assert stack.up(program()).changes == {}

    scaled = stack.up(program(count=2))
    assert scaled.changes == {GENERIC: "update"}
    assert scaled.paths == {GENERIC: {"properties.count"}}
    assert aks.agent_pools.get("rg-life", "life", "gpunp").properties.count == 2

    changed = program(count=2, size=H100, gpu=DEVICE_PLUGIN)
    planned = stack.preview(changed)
    assert planned.changes == {GENERIC: "replace", TYPED: "replace"}
    assert planned.paths[GENERIC] == {"properties.gpuProfile.nvidia.driverMode"}
    replaced = stack.up(changed)
    for name in (GENERIC, TYPED):
        steps = [step for step, of in replaced.order if of == name]
        assert steps == ["delete-replaced", "replace", "create-replacement"], "one name, so the old one goes first"
    assert gpu_profile(aks, "life", "gpunp")["nvidia"]["driverMode"] == "DevicePlugin"
    assert aks.agent_pools.get("rg-life", "life", "typed").properties.vm_size == H100

    pool = aks.agent_pools.get("rg-life", "life", "gpunp")
    pool.properties.count = 4
    aks.agent_pools.begin_create_or_update("rg-life", "life", "gpunp", pool).result()
    aks.agent_pools.begin_delete("rg-life", "life", "typed").result()
    drift = stack.refresh()
    # The cluster lists its pools, also those made apart from it; a refresh takes that for drift, on Azure too.
    assert drift.changes == {TYPED: "delete", GENERIC: "update", CLUSTER: "update"}
    properties = resource(stack, "gpunp")["inputs"]["properties"]
    assert properties["count"] == 4
    # A bag of properties has no read-only ones, so what Azure changed by itself is drift, too; defaults are not.
    assert set(properties) == {"vmSize", "count", "gpuProfile", "eTag"}
    repaired = stack.up(changed)
    assert repaired.changes == {TYPED: "create", GENERIC: "update", CLUSTER: "update"}
    assert repaired.paths[GENERIC] == {"properties.count", "properties.eTag"}

    gone = stack.destroy()
    assert [name for _, name in gone.order][-2:] == [CLUSTER, RESOURCE_GROUP]
    assert list(aks.managed_clusters.list()) == []


def test_import_by_id_alone(engine: Engine, endpoint: Endpoint, aks: Any) -> None:
    groups = endpoint.client(ResourceManagementClient).resource_groups
    groups.create_or_update("rg-import", {"location": "westeurope"})
    made = aks.managed_clusters.begin_create_or_update("rg-import", "import", cluster_body()).result()
    stack = engine.stack("import")
    stack.auto.import_resources(
        resources=[
            ImportResource(type="azure-native:containerservice:ManagedCluster", name="cluster", id=made.id),
            ImportResource(type="azure-native:containerservice:AgentPool", name="pool", id=f"{made.id}/agentPools/sys"),
        ],
        generate_code=False,
        protect=False,
    )
    inputs = resource(stack, "pool")["inputs"]
    assert {key: inputs[key] for key in ("resourceGroupName", "resourceName", "agentPoolName", "count", "mode")} == {
        "resourceGroupName": "rg-import",
        "resourceName": "import",
        "agentPoolName": "sys",
        "count": 1,
        "mode": "System",
    }
    assert "provisioningState" not in inputs
    assert resource(stack, "cluster")["inputs"]["location"] == "eastus"
    assert resource(stack, "cluster")["outputs"]["provisioningState"] == "Succeeded"
    assert stack.refresh().changes == {}


def test_what_exists_is_not_taken_over(engine: Engine, endpoint: Endpoint) -> None:
    endpoint.client(ResourceManagementClient).resource_groups.create_or_update("rg-taken", {"location": "eastus"})
    stack = engine.stack("taken")

    def taken() -> None:
        group("rg-taken")

    said = stack.refuses(stack.up, taken)
    assert f"cannot create already existing resource '/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-taken'" in said

    def register() -> None:
        features.SubscriptionFeatureRegistration(
            "feature", provider_namespace="Microsoft.ContainerService", feature_name="NodeAutoProvisioningPreview"
        )

    said = stack.refuses(stack.up, register)
    assert "cannot create already existing resource" in said, "GET answers 200 for every feature"
    assert "subscriptionFeatureRegistrations/NodeAutoProvisioningPreview'" in said


def test_a_failed_operation_is_kept_and_taken_up_again(engine: Engine, endpoint: Endpoint) -> None:
    stack = engine.stack("partial")

    def program() -> None:
        of = group("rg-partial")
        generic_pool(cluster(of, "partial"), of.name)

    endpoint.fault("pool-failed", "gpunp")
    said = stack.refuses(stack.up, program)
    assert 'Status=200 Code="' in said
    assert resource(stack, "gpunp")["outputs"]["properties"]["provisioningState"] == "Failed"
    endpoint.folder.faults.unlink()
    assert stack.up(program).changes == {GENERIC: "update"}
    assert resource(stack, "gpunp")["outputs"]["properties"]["provisioningState"] == "Succeeded"
    assert stack.up(program).changes == {}


def test_other_api_versions_carry_what_they_have(engine: Engine, aks: Any) -> None:
    stack = engine.stack("versions")
    version = "v20260502preview"

    def program() -> None:
        of = group("rg-versions")
        made = cluster(of, "versions")
        package = pulumi.runtime.settings.register_package(
            "azure-native",
            "3.29.0",
            "",
            f"azure-native_containerservice_{version}",
            "3.29.0",
            base64.b64encode(base64.b64encode(b'{"module":"containerservice","version":"v20260502preview"}')).decode(),
        )
        inputs = {"resourceGroupName": of.name, "resourceName": made.name, "vmSize": A100, "gpuProfile": DRA}
        token = f"azure-native:containerservice/{version}:AgentPool"
        pulumi.CustomResource(token, "token", inputs | {"count": 1})
        token = f"azure-native_containerservice_{version}:containerservice:AgentPool"
        pulumi.CustomResource(token, "package", inputs | {"count": 1}, package_ref=package)

    stack.up(program)
    for pool in ("token", "package"):
        accepted = gpu_profile(aks, "versions", pool)
        assert accepted["nvidia"]["managementMode"] == "Managed"
        assert accepted["nvidia"].get("driverMode") != "DRA", "first in 2026-06-02-preview"


def test_what_the_twin_does_not_know_is_named(engine: Engine) -> None:
    stack = engine.stack("unknown")

    def vnet() -> None:
        network.VirtualNetwork("net", resource_group_name="rg", virtual_network_name="net")

    assert "Resource type azure-native:network:VirtualNetwork not found. The twin knows only" in stack.refuses(
        stack.up, vnet
    )

    def newer() -> None:
        pulumi.CustomResource("azure-native:containerservice/v20260602preview:AgentPool", "pool", {})

    assert "at these API versions only: " in stack.refuses(stack.up, newer)

    def function() -> None:
        try:
            network.get_virtual_network(resource_group_name="rg", virtual_network_name="net")
        except Exception as error:  # noqa: BLE001 - the SDK raises nothing finer
            pulumi.export("said", str(error))

    said = stack.up(function).outputs["said"]
    assert "Invoke type azure-native:network:getVirtualNetwork not found. The twin knows only" in said

    def invalid() -> None:
        containerservice.AgentPool("gpu-np", resource_group_name="rg", resource_name_="aks")

    assert "'agentPoolName' does not match expression" in stack.refuses(stack.up, invalid)


def test_functions_and_made_up_names(engine: Engine) -> None:
    stack = engine.stack("functions")

    def program() -> None:
        of = resources.ResourceGroup("group", location="westus2")
        made = cluster(of, "functions")
        where: dict[str, Any] = {"resource_group_name": of.name, "resource_name": made.name}
        user = containerservice.list_managed_cluster_user_credentials_output(**where)
        admin = containerservice.list_managed_cluster_admin_credentials_output(**where)
        pool = containerservice.get_agent_pool_output(agent_pool_name="sys", **where)
        generic = resources.get_resource_output(
            api_version=VERSION,
            parent_resource_path=made.name.apply(lambda name: f"managedClusters/{name}"),
            resource_group_name=of.name,
            resource_provider_namespace="Microsoft.ContainerService",
            resource_type="agentPools",
            resource_name=Output.from_input("sys"),
        )
        pulumi.export("user", user.kubeconfigs[0].value)
        pulumi.export("admin", admin.kubeconfigs[0].value)
        pulumi.export("cluster", containerservice.get_managed_cluster_output(**where).kubernetes_version)
        pulumi.export("pool", pool.vm_size)
        pulumi.export("generic", generic.properties["provisioningState"])
        pulumi.export("group", resources.get_resource_group_output(resource_group_name=of.name).location)
        pulumi.export("tenant", authorization.get_client_config().tenant_id)
        pulumi.export("name", of.name)
        pulumi.export("region", made.location)

    stack.preview(program)
    outputs = stack.up(program).outputs
    assert base64.b64decode(str(outputs.pop("user"))) == b"kind: Config\nusers: [{name: user}]\n"
    assert b"name: admin" in base64.b64decode(str(outputs.pop("admin")))
    assert re.fullmatch(r"group[0-9a-f]{8}", str(outputs.pop("name")))
    assert outputs == {
        "cluster": "1.35",
        "pool": "Standard_D4s_v5",
        "generic": "Succeeded",
        "group": "westus2",
        "tenant": TENANT,
        "region": "westus2",
    }
    assert stack.up(program).changes == {}, "the made-up name stays"


def test_the_schema_is_one_that_the_engine_accepts(engine: Engine, tmp_path: Path) -> None:
    plugin = str(engine.bin / "pulumi-resource-azure-native")
    base = json.loads(engine.run(tmp_path, "package", "get-schema", plugin))
    assert "azure-native:containerservice:AgentPool" in base["resources"]
    arguments = ("package", "get-schema", plugin, "containerservice", "2026-05-02-preview")
    package = json.loads(engine.run(tmp_path, *arguments))
    assert package["name"] == "azure-native_containerservice_v20260502preview"


CANCELLED = """
from pulumi_azure_native import containerservice, resources

group = resources.ResourceGroup("group", resource_group_name="rg-cancel", location="eastus")
containerservice.ManagedCluster(
    "cluster", resource_group_name=group.name, resource_name_="cancel", dns_prefix="c", kubernetes_version="1.35",
    identity={"type": "SystemAssigned"},
    agent_pool_profiles=[{"name": "sys", "mode": "System", "count": 1, "vm_size": "Standard_D4s_v5"}],
)
"""


def test_a_cancelled_update_goes_on_later(engine: Engine, endpoint: Endpoint, aks: Any, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: cancelled\nruntime: python\n")
    (tmp_path / "__main__.py").write_text(CANCELLED)
    engine.run(tmp_path, "stack", "init", "cancel")
    up = ("up", "--yes", "--skip-preview")
    endpoint.backend.gate.clear()
    try:
        update = engine.start(tmp_path, *up)
        wait_until_creating(aks, "rg-cancel")
        update.send_signal(signal.SIGINT)
        out, err = update.communicate(timeout=60)
    finally:
        endpoint.backend.gate.set()
    said = out + err
    assert update.returncode != 0
    assert "cancelled before Azure was done" in said
    assert "Traceback" not in said
    deployment = json.loads(engine.run(tmp_path, "stack", "export"))["deployment"]
    assert "pending_operations" not in deployment
    (cluster,) = [found for found in deployment["resources"] if found["urn"].endswith("::cluster")]
    assert cluster["outputs"]["provisioningState"] == "Creating"
    assert "1 unchanged" not in engine.run(tmp_path, "refresh", "--yes")
    assert "created" not in engine.run(tmp_path, *up)
    assert aks.managed_clusters.get("rg-cancel", "cancel").properties.provisioning_state == "Succeeded"
    assert "3 unchanged" in engine.run(tmp_path, *up)


def wait_until_creating(aks: Any, group_name: str) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if any(f"/{group_name}/" in found.id for found in aks.managed_clusters.list()):
            return
        time.sleep(0.05)
    raise AssertionError("the cluster was never asked for")
