"""What the live checks and the rule book refuse, and what they let through."""

import pulumi
import pytest

from components import Cluster, GpuClaim, GpuDeviceClass, NodePool, PreviewFeature
from components.live import RefusedError

DRA_PATH = "/apis/resource.k8s.io/v1/deviceclasses/aks-dra-gpu"


def pool(**more):
    def program() -> None:
        made = NodePool(
            "gpunp",
            {
                "resource_group_name": "rg",
                "cluster_name": "aks",
                "vm_size": "Standard_NC24ads_A100_v4",
                **more,
            },
        )
        pulumi.export("accepted", made.accepted)

    return program


def device_class() -> None:
    GpuDeviceClass("class", {"kubeconfig": "kubeconfig"})


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"os_sku": "AzureContainerLinux"}, "AKSGPU204 dra-os-sku"),
        ({"name": "gpu-pool"}, "AKSGPU208 pool-name"),
        ({"name": "gpupool123456"}, "AKSGPU208 pool-name"),
        ({"vm_size": "Standard_D4s_v5"}, "AKSGPU211 gpu-size-required"),
    ],
)
def test_a_pool_that_breaks_a_rule_is_refused_when_it_is_built(run, more, rule):
    with pytest.raises(RefusedError, match=rule):
        run(pool(**more))


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"kubernetes_version": "1.34.5"}, "AKSGPU102"),
        ({"node_provisioning": "Auto"}, "AKSGPU203"),
    ],
)
def test_a_pool_is_judged_together_with_its_cluster(run, world, more, rule):
    with pytest.raises(RefusedError, match=rule):
        run(pool(**more))
    assert "Resource gpunp" not in world.made


def test_an_unknown_kind_names_the_kinds(run):
    with pytest.raises(RefusedError, match=r"no kind 'dra'.*managed-dra, managed-device-plugin"):
        run(pool(kind="dra"))


@pytest.mark.parametrize(
    ("kind", "accepted", "profile"),
    [
        ("driver-only", {"gpu_driver": "Install", "management_mode": None, "driver_mode": None}, {"driver": "Install"}),
        ("operator-managed", {"gpu_driver": "None", "management_mode": None, "driver_mode": None}, {"driver": "None"}),
    ],
)
def test_unmanaged_kinds_use_the_typed_resource_and_no_preview_feature(run, world, kind, accepted, profile):
    world.azure.accepted |= accepted
    world.azure.feature = "NotRegistered"
    made = run(pool(kind=kind))
    assert made.one("AgentPool")["gpuProfile"] == profile
    assert "PreviewFeature gpunp-preview" not in made.made


def test_a_managed_device_plugin_pool_says_so(run, world):
    world.azure.accepted["driver_mode"] = "DevicePlugin"
    nvidia = run(pool(kind="managed-device-plugin")).one("Resource")["properties"]["gpuProfile"]["nvidia"]
    assert nvidia == {"managementMode": "Managed", "driverMode": "DevicePlugin", "migStrategy": "None"}


def test_a_cpu_pool_has_no_gpu_profile(run, world):
    world.azure.accepted |= {"gpu_driver": None, "management_mode": None, "driver_mode": None}
    assert "gpuProfile" not in run(pool(kind="cpu", vm_size="Standard_D4s_v5")).one("AgentPool")


def test_a_cpu_pool_gets_neither_gpu_taint_nor_gpu_upgrade_settings(run, world):
    world.azure.accepted |= {"gpu_driver": None, "management_mode": None, "driver_mode": None}
    made = run(pool(kind="cpu", vm_size="Standard_D4s_v5")).one("AgentPool")
    assert not {"nodeTaints", "upgradeSettings"} & made.keys()


EVERYTHING = {
    "taints": [],
    "labels": {"team": "ml"},
    "zones": ["1", "2"],
    "upgrade": {"max_surge": "1", "drain_timeout_minutes": 60.0, "soak_minutes": 5},
    "spot": True,
    "os_disk_type": "Ephemeral",
    "os_disk_gb": 128,
    "subnet_id": "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/n",
    "vm_tags": {"cost": "ml"},
    "further_properties": {"maxPods": 60},
}
SENT = {
    "nodeLabels": {"team": "ml"},
    "availabilityZones": ["1", "2"],
    "upgradeSettings": {"maxSurge": "1", "drainTimeoutInMinutes": 60, "nodeSoakDurationInMinutes": 5},
    "scaleSetPriority": "Spot",
    "scaleSetEvictionPolicy": "Delete",
    "spotMaxPrice": -1,
    "osDiskType": "Ephemeral",
    "osDiskSizeGB": 128,
    "vnetSubnetID": EVERYTHING["subnet_id"],
    "tags": {"cost": "ml"},
    "maxPods": 60,
}


def test_every_property_reaches_a_managed_pool(run, world):
    asked = run(pool(**EVERYTHING)).one("Resource")["properties"]
    assert {key: asked[key] for key in SENT} == SENT
    assert "nodeTaints" not in asked


def test_every_property_reaches_a_typed_pool(run, world):
    world.azure.accepted |= {"management_mode": None, "driver_mode": None}
    asked = run(pool(kind="driver-only", **EVERYTHING)).one("AgentPool")
    assert {key: asked[key] for key in SENT} == SENT
    assert "nodeTaints" not in asked


@pytest.mark.parametrize("kind", ["managed-dra", "driver-only"])
def test_further_properties_cannot_override_what_the_component_decides(run, world, kind):
    with pytest.raises(RefusedError, match=r"further_properties has enableAutoScaling, gpuProfile"):
        run(pool(kind=kind, further_properties={"gpuprofile": {}, "enableAutoScaling": True}))


def test_a_property_that_the_typed_resource_would_drop_is_refused(run, world):
    with pytest.raises(RefusedError, match="no migStrategies and would drop it"):
        run(pool(kind="driver-only", further_properties={"migStrategies": []}))


def test_further_properties_are_judged_too(run, world):
    with pytest.raises(RefusedError, match="AKSGPU207"):
        run(pool(further_properties={"gpuInstanceProfile": "MIG1g"}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"driver_mode": "DevicePlugin"}, "driverMode: asked for DRA, Azure accepted DevicePlugin"),
        ({"driver_mode": None}, "driverMode: asked for DRA, Azure accepted nothing"),
        ({"management_mode": None}, "managementMode: asked for Managed, Azure accepted Unmanaged"),
        ({"gpu_driver": "None"}, "driver: asked for Install, Azure accepted None"),
        ({"state": "Failed"}, "provisioningState: asked for Succeeded, Azure says Failed"),
    ],
)
def test_what_azure_accepted_differently_is_named_with_both_values(run, world, change, said):
    world.azure.accepted |= change
    with pytest.raises(RefusedError, match=said):
        run(pool())


def test_an_os_sku_that_was_asked_for_is_compared(run, world):
    with pytest.raises(RefusedError, match="osSku: asked for AzureLinux, Azure accepted Ubuntu"):
        run(pool(os_sku="AzureLinux"))


def test_a_failed_pool_does_not_stop_the_preview_of_what_mends_it(run, world):
    world.azure.accepted["state"] = "Failed"
    run(pool(), preview=True)


def test_a_pool_that_is_wrong_stops_the_preview_too(run, world):
    world.azure.accepted["driver_mode"] = "DevicePlugin"
    with pytest.raises(RefusedError, match="DevicePlugin"):
        run(pool(), preview=True)


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, resource=None: said.append(text))
    return said


def test_a_pool_that_is_gone_is_a_warning_in_a_preview(run, world, warned, monkeypatch):
    monkeypatch.setattr(world.azure, "pool", lambda *_: None)
    run(pool(), preview=True)
    assert ["Azure does not have it" in text for text in warned] == [True]


def test_a_warning_of_the_rule_book_is_shown_once(run, world, warned):
    run(pool(vm_size="Standard_NC999_unheard_of"))
    assert ["unknown-vm-size" in text for text in warned] == [True]


@pytest.mark.parametrize("count", [1.5, -1, "two", True])
def test_a_pool_counts_whole_nodes(run, count):
    with pytest.raises(RefusedError, match=r"Pool gpunp: count is .*whole number of at least 0"):
        run(pool(count=count))


@pytest.mark.parametrize("count", [0, 33, 1.5])
def test_a_claim_counts_whole_devices(run, count):
    def program() -> None:
        GpuClaim("claim", {"namespace": "team", "device_class_name": "c", "count": count, "kubeconfig": "kubeconfig"})

    with pytest.raises(RefusedError, match="whole number from 1 to 32"):
        run(program)


@pytest.mark.parametrize("preview", [True, False])
def test_require_refuses_an_unregistered_feature_with_the_commands(run, world, preview):
    world.azure.feature = "NotRegistered"
    with pytest.raises(RefusedError) as refused:
        run(pool(), preview=preview)
    for command in (
        "az feature register --namespace Microsoft.ContainerService --name ManagedGPUExperiencePreview",
        "az provider register --namespace Microsoft.ContainerService",
    ):
        assert command in str(refused.value)
    assert not any(key.startswith("Resource ") for key in world.made)


def gate(world, *, coming):
    """Run the hook of a gate on its own: the mock engine accepts hooks and never runs them."""
    world.azure.feature, world.azure.coming = "NotRegistered", coming

    def program() -> None:
        feature = PreviewFeature("gate", {"mode": "register"})
        pulumi.export(
            "done",
            feature.state.apply(lambda _: feature.before_create.callback(pulumi.ResourceHookArgs("", "", "", ""))),
        )

    return program


def test_register_waits_until_registered_and_refreshes_the_provider(run, world, monkeypatch):
    monkeypatch.setattr("components.preview_feature.FIRST_PAUSE", 0.001)
    run(gate(world, coming=["NotRegistered", "NotRegistered", "Registering", "Registering", "Registered"]))
    assert world.azure.provider_refreshed


def test_register_gives_up_with_the_commands(run, world, monkeypatch):
    monkeypatch.setattr("components.preview_feature.FIRST_PAUSE", 0.001)
    monkeypatch.setattr("components.preview_feature.PATIENCE", 0)
    with pytest.raises(RefusedError, match=r"Registering after .*`az feature register"):
        run(gate(world, coming=["NotRegistered", "NotRegistered", *["Registering"] * 50]))
    assert not world.azure.provider_refreshed


def test_register_does_nothing_when_it_is_registered(run, world):
    run(gate(world, coming=["Registered", "Registered"]))
    assert not world.azure.provider_refreshed


def test_an_unknown_mode_is_refused(run):
    with pytest.raises(RefusedError, match="'always' is not one of require, register"):
        run(pool(preview_feature="always"))


FOREIGN = {
    "metadata": {
        "name": "aks-dra-gpu",
        "labels": {"app.kubernetes.io/managed-by": "Helm"},
        "managedFields": [{"manager": "kubectl-client-side-apply"}, {"manager": "helm"}],
    },
    "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]},
}


def test_a_foreign_class_is_refused_with_owner_and_selectors(run, world):
    world.kube.objects[DRA_PATH] = FOREIGN
    with pytest.raises(RefusedError) as refused:
        run(device_class)
    text = str(refused.value)
    assert "managed by Helm; last written by helm, kubectl-client-side-apply" in text
    assert "device.driver == 'gpu.nvidia.com'" in text
    assert "kubectl annotate --overwrite deviceclass aks-dra-gpu aksgpu.dev/stack=organization/aksgpu/dev" in text
    assert not any(key.startswith("DeviceClass ") for key in world.made)


def test_the_class_of_another_stack_is_refused(run, world):
    annotations = {"aksgpu.dev/stack": "organization/aksgpu/prod"}
    world.kube.objects[DRA_PATH] = {"metadata": {"name": "aks-dra-gpu", "annotations": annotations}}
    with pytest.raises(RefusedError, match="the stack organization/aksgpu/prod"):
        run(device_class)


def test_our_own_class_is_ours(run, world):
    annotations = {"aksgpu.dev/stack": "organization/aksgpu/dev"}
    world.kube.objects[DRA_PATH] = {"metadata": {"name": "aks-dra-gpu", "annotations": annotations}}
    assert run(device_class).one("DeviceClass")["metadata"]["annotations"] == {
        **annotations,
        "pulumi.com/patchForce": "true",
    }


@pytest.mark.parametrize(("versions", "said"), [([], "does not serve that group"), (["v1beta1"], "only as v1beta1")])
def test_a_cluster_without_the_stable_api_is_refused(run, world, versions, said):
    world.kube.versions = versions
    with pytest.raises(RefusedError, match=said):
        run(device_class)


def test_a_namespaced_object_is_looked_up_in_its_namespace(run, world):
    world.kube.objects["/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/gpu-claim"] = {
        "metadata": {"name": "gpu-claim", "namespace": "team"}
    }

    def program() -> None:
        GpuClaim("claim", {"namespace": "team", "device_class_name": "aks-dra-gpu", "kubeconfig": "kubeconfig"})

    with pytest.raises(RefusedError, match="ResourceClaim gpu-claim in the namespace team exists"):
        run(program)


@pytest.mark.parametrize(("count", "warnings"), [(1, 0), (2, 1)])
def test_who_uses_a_claim_that_has_to_be_replaced_is_named(run, world, monkeypatch, count, warnings):
    exactly = {"deviceClassName": "aks-dra-gpu", "allocationMode": "ExactCount", "count": 1}
    world.kube.objects["/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/gpu-claim"] = {
        "metadata": {"name": "gpu-claim", "annotations": {"aksgpu.dev/stack": "organization/aksgpu/dev"}},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
        "status": {"reservedFor": [{"resource": "pods", "name": "notebook-0"}]},
    }
    said = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, resource: said.append(text))

    def program() -> None:
        GpuClaim(
            "claim",
            {
                "namespace": "team",
                "device_class_name": "aks-dra-gpu",
                "count": count,
                "kubeconfig": "kubeconfig",
            },
        )

    run(program)
    assert len(said) == warnings
    assert all("gone: notebook-0." in text for text in said)


def adopted() -> None:
    cluster = Cluster("cluster", {"use": {"resource_group": "rg", "name": "aks"}})
    pulumi.export("version", cluster.kubernetes_version)


def test_an_adopted_cluster_is_only_read(run):
    made = run(adopted)
    assert made.made.keys() == {"Cluster cluster", "kubernetes cluster-kubernetes"}
    assert made.one("kubernetes")["clusterIdentifier"].endswith("/managedClusters/aks")


def test_a_cluster_to_use_must_exist(run, world):
    world.azure.has_cluster = False
    with pytest.raises(RefusedError, match="no cluster aks in the resource group rg"):
        run(adopted)


@pytest.mark.parametrize("args", [{}, {"use": {"resource_group": "rg", "name": "a"}, "create": {}}])
def test_a_cluster_is_created_or_used(run, args):
    with pytest.raises(RefusedError, match="exactly one of create and use"):
        run(lambda: Cluster("cluster", args) and None)
