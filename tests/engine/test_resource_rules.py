"""The normative resource rules, each on the real engine: with the option as components set it, and without it.

A transform takes the option away from the resources that the components register, so these tests fail when a
component loses it, and show what it is for.
"""

import base64
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pulumi_azure_native import containerservice, resources

from components import Cluster, GpuClaim, NodePool, ValidationJob
from components.cluster import _kubeconfig
from tests.engine.conftest import Dev
from tests.engine.test_main_job import A100, CLUSTER, EXISTING, GROUP
from twin.arm.settings import SUBSCRIPTION

Program = Callable[[], None]
Edit = Callable[[str, dict[str, Any], pulumi.ResourceOptions], None]


def edited(program: Program, edit: Edit) -> Program:
    """Return the program with every resource's properties and options passed through `edit`."""

    def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        props, opts = dict(args.props), args.opts
        edit(args.type_, props, opts)
        return pulumi.ResourceTransformResult(props, opts)

    def run() -> None:
        pulumi.runtime.register_resource_transform(transform)
        program()

    return run


def pool(vm_size: str = A100) -> Program:
    def program() -> None:
        NodePool(
            "rulepool", {"name": "rulenp", "vm_size": vm_size, "resource_group_name": GROUP, "cluster_name": CLUSTER}
        )

    return program


BIGGER = "Standard_NC48ads_A100_v4"


def test_2_and_3_a_pool_is_replaced_delete_first_and_only_because_the_component_says_so(dev: Dev, stack):
    ours = stack()
    ours.up(pool())

    replaced = ours.preview(pool(BIGGER))
    assert [operation for operation, _ in replaced.order] == ["delete-replaced", "replace", "create-replacement"]

    def without_replacement(_: str, __: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        opts.replace_on_changes = []

    assert ours.preview(edited(pool(BIGGER), without_replacement)).changes == {"Resource rulepool": "update"}

    def without_delete_first(_: str, __: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        opts.delete_before_replace = False

    order = [operation for operation, _ in ours.preview(edited(pool(BIGGER), without_delete_first)).order]
    assert order.index("create-replacement") < order.index("delete-replaced")


def test_2_every_gpu_field_is_written_so_a_refresh_plans_nothing(dev: Dev, stack):
    ours = stack()
    ours.up(pool())
    assert ours.inputs("azure-native:resources:Resource")["properties"]["gpuProfile"] == {
        "driver": "Install",
        "nvidia": {"managementMode": "Managed", "driverMode": "DRA", "migStrategy": "None"},
    }
    ours.refresh()
    assert ours.preview(pool()).changes == {}


def test_3_a_protected_pool_is_not_deleted(dev: Dev, stack):
    def program() -> None:
        NodePool(
            "safepool",
            {
                "name": "safenp",
                "vm_size": A100,
                "resource_group_name": GROUP,
                "cluster_name": CLUSTER,
                "protect": True,
            },
        )

    ours = stack()
    ours.up(program)
    with pytest.raises(pulumi.automation.CommandError, match="protected"):
        ours.destroy()
    ours.command("state", "unprotect", "--all", "--yes")


def objects(*, count: int = 1, by_output: bool = True) -> Program:
    """A claim and its consumer on the dev stack's cluster."""

    def program() -> None:
        cluster = Cluster("shared", EXISTING)
        inside = pulumi.ResourceOptions(providers=[cluster.provider])
        claim = GpuClaim(
            "ruleclaim",
            {
                "name": "rule-claim",
                "namespace": "gpu-dra-example",
                "device_class_name": "aks-dra-gpu",
                "count": count,
                "kubeconfig": cluster.kubeconfig,
            },
            inside,
        )
        ValidationJob(
            "rulejob",
            {
                "name": "rule-job",
                "claim_name": claim.claim_name if by_output else "rule-claim",
                "pool_name": "gpunp",
                "namespace": "gpu-dra-example",
                "kubeconfig": cluster.kubeconfig,
            },
            pulumi.ResourceOptions(providers=[cluster.provider], depends_on=[claim]),
        )

    return program


MOVED = ("server: https://127.0.0.1:", "server: https://localhost:")


def _moved(type_: str, props: dict[str, Any]) -> None:
    """Let the cluster's API server have another address."""
    if type_ == "pulumi:providers:kubernetes":
        props["kubeconfig"] = pulumi.Output.from_input(props["kubeconfig"]).apply(_replace_address)


def _replace_address(kubeconfig: str) -> str:
    assert MOVED[0] in kubeconfig
    return kubeconfig.replace(*MOVED)


def test_1_and_6_addresses_and_claims_change_without_harm(dev: Dev, stack):
    ours = stack()
    ours.up(objects())

    # 1: a moved API server is an update of the provider, because of clusterIdentifier.
    moved = ours.preview(edited(objects(), lambda type_, props, _: _moved(type_, props)))
    assert moved.changes == {"kubernetes shared-kubernetes": "update"}

    def without_identifier(type_: str, props: dict[str, Any], _: pulumi.ResourceOptions) -> None:
        _moved(type_, props)
        props.pop("clusterIdentifier", None)

    assert ours.preview(edited(objects(), without_identifier)).changes == {
        "kubernetes shared-kubernetes": "replace",
        "ResourceClaim ruleclaim": "replace",
        "Job rulejob": "replace",
    }

    # 6: who refers to a claim by its output goes before it and comes back after it; who only depends on it stays.
    changed = [step for step in ours.preview(objects(count=2)).order if step[0] != "replace"]
    assert changed == [
        ("delete-replaced", "Job rulejob"),
        ("delete-replaced", "ResourceClaim ruleclaim"),
        ("create-replacement", "ResourceClaim ruleclaim"),
        ("create-replacement", "Job rulejob"),
    ]

    def without_replacement(_: str, __: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        opts.replace_on_changes = []

    assert "field is immutable" in ours.refuses(ours.preview, edited(objects(count=2), without_replacement))

    ours.up(objects(by_output=False))
    assert ours.preview(objects(count=2, by_output=False)).changes == {"ResourceClaim ruleclaim": "replace"}

    # 7: only what runs before a creation is hooked, so that a plain destroy works.
    hooks = [resource.get("resourceHooks", {}) for resource in ours.resources()]
    assert {kind for hook in hooks for kind in hook} <= {"beforeCreate"}


def fresh() -> None:
    """A cluster that does not exist yet, with an object inside."""
    cluster = Cluster(
        "new",
        {
            "create": {
                "resource_group": "rg-new",
                "name": "aks-new",
                "location": "eastus",
                "kubernetes_version": "1.35",
            }
        },
    )
    GpuClaim(
        "newclaim",
        {"namespace": "team", "device_class_name": "aks-dra-gpu", "kubeconfig": cluster.kubeconfig},
        pulumi.ResourceOptions(providers=[cluster.provider]),
    )


def test_9_and_10_a_cluster_that_does_not_exist_is_not_asked(dev: Dev, stack):
    ours = stack()
    assert ours.preview(fresh).changes == {
        "ResourceGroup new-group": "create",
        "ManagedCluster new": "create",
        "kubernetes new-kubernetes": "create",
        "ResourceClaim newclaim": "create",
    }

    # What the wait for the cluster's id is for: asked for at once, there are no credentials.
    def at_once() -> None:
        known = [f"/subscriptions/{SUBSCRIPTION}", "rg-new", "aks-new"]
        pulumi.export("kubeconfig", pulumi.Output.from_input(known).apply(_kubeconfig))

    assert "Azure returned no kubeconfig" in ours.refuses(ours.preview, at_once)


def test_10_the_credentials_are_those_of_the_cluster_user(dev: Dev, stack):
    def program() -> None:
        cluster = Cluster("shared", EXISTING)
        pulumi.export("kubeconfig", pulumi.Output.unsecret(cluster.kubeconfig))
        credentials = containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=GROUP, resource_name=CLUSTER
        )
        pulumi.export("user", credentials.kubeconfigs[0].value)

    outputs = stack().up(program).outputs
    assert outputs["kubeconfig"] == base64.b64decode(str(outputs["user"])).decode()


def test_8_hook_inputs_of_a_preview_hold_unknowns_and_floats(dev: Dev, stack):
    seen: list[dict[str, Any]] = []

    def look(args: pulumi.ResourceHookArgs) -> None:
        seen.append(dict(args.new_inputs or {}))

    def program() -> None:
        group = resources.ResourceGroup("hookgroup", resource_group_name="rg-hook", location="eastus")
        hook = pulumi.ResourceHook("look", look, pulumi.ResourceHookOptions(on_dry_run=True))
        resources.Resource(
            "hooked",
            api_version="2026-08-02-preview",
            resource_group_name="rg-hook",
            resource_provider_namespace="Microsoft.ContainerService",
            parent_resource_path="managedClusters/none",
            resource_type="agentPools",
            resource_name_="hookednp",
            properties={"count": 1, "nodeLabels": {"group": group.id}},
            opts=pulumi.ResourceOptions(hooks=pulumi.ResourceHookBinding(before_create=[hook])),
        )

    stack().preview(program)
    (inputs,) = seen
    assert isinstance(inputs["properties"]["count"], float)
    assert isinstance(inputs["properties"]["nodeLabels"]["group"], pulumi.output.Unknown)
