"""AKSGPU201 to 210: the limits of managed GPU pools with dynamic resource allocation."""

from aksgpu.facts.clusters import ClusterFacts
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, all_of, equals, is_true, not_
from aksgpu.knowledge import node_pools
from aksgpu.rules.checks import FAILS_OR_WAITS, each_pool, each_pool_in_cluster, said
from aksgpu.rules.gpu_pools import runs_one_of, uses_mig
from aksgpu.rules.model import Rule

_DRA_ARTICLE = "Microsoft Learn: Use dynamic resource allocation for NVIDIA GPUs in AKS (preview), Limitations"
_MANAGED_ARTICLE = "Microsoft Learn: AKS-managed GPU node pools (preview)"


def _dra_without_managed(pool: PoolFacts) -> str:
    given = f"managementMode {pool.management_mode}" if pool.management_mode else "no managementMode"
    return f"Pool {pool.label} has driverMode DRA with {given}."


DRA_NEEDS_MANAGED_GPU = Rule(
    id="AKSGPU201",
    name="dra-needs-managed-gpu",
    severity="error",
    summary="A pool with driver mode DRA enables managed GPU explicitly.",
    why="AKS doesn't support DRA without managed GPU: nothing would install or run the DRA driver on the nodes.",
    fix=(
        "Set gpuProfile.nvidia.managementMode to Managed beside driverMode DRA (az: --enable-managed-gpu=true), or "
        "remove driverMode."
    ),
    source=_DRA_ARTICLE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.asks_for_dra(), not_(pool.is_managed())),
        _dra_without_managed,
        ("driver_mode", "management_mode"),
    ),
)

DRA_WITH_AUTOSCALER = Rule(
    id="AKSGPU202",
    name="dra-with-autoscaler",
    severity="error",
    summary="A DRA pool has a fixed size.",
    why=(
        "The cluster autoscaler isn't supported with managed DRA: it can't tell which new node would "
        "satisfy a claim, "
        "so pods wait for nodes that never come and nodes with allocated GPUs look idle."
    ),
    fix="Set enableAutoScaling to false, remove minCount and maxCount, and set count.",
    source=_DRA_ARTICLE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.asks_for_dra(), is_true(pool.autoscaling)),
        lambda pool: f"Pool {pool.label} has driverMode DRA and enableAutoScaling true.",
        ("driver_mode", "autoscaling"),
    ),
)


def _nap_message(pool: PoolFacts, cluster: ClusterFacts) -> str:
    return f"Pool {pool.label} has driverMode DRA in {cluster.label}, whose node auto-provisioning mode is Auto."


DRA_WITH_NODE_AUTOPROVISIONING = Rule(
    id="AKSGPU203",
    name="dra-with-node-autoprovisioning",
    severity="error",
    summary="A cluster with a DRA pool doesn't use node auto-provisioning.",
    why=(
        "Node auto-provisioning isn't supported with managed DRA: it ignores resource claims when it adds and "
        "removes nodes."
    ),
    fix="Set nodeProvisioningProfile.mode of the cluster to Manual, or keep the DRA pool in another cluster.",
    source=_DRA_ARTICLE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool_in_cluster(
        lambda pool, cluster: all_of(pool.asks_for_dra(), equals(cluster.node_provisioning, "Auto")),
        _nap_message,
        ("driver_mode",),
        {"node_provisioning": "nodeProvisioningProfile.mode"},
    ),
    prevents=("component", "preview"),
    detects=("update", "files"),
    across=True,
)


DRA_OS_SKU = Rule(
    id="AKSGPU204",
    name="dra-os-sku",
    severity="error",
    summary="A DRA pool runs an operating system that AKS supports with it.",
    why=(
        "AzureContainerLinux isn't supported with managed DRA, and Flatcar, OS Guard and Windows have no "
        "managed NVIDIA stack."
    ),
    fix="Leave osSKU out to get the default, or use Ubuntu or AzureLinux, with osType Linux.",
    source=f"{_DRA_ARTICLE}; {_MANAGED_ARTICLE}",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.asks_for_dra(), runs_one_of(pool, node_pools.DRA_REFUSED_OS_SKUS)),
        lambda pool: (
            f"Pool {pool.label} has driverMode DRA with osType {said(pool.os_type, 'Linux')}, osSKU {pool.os_sku}."
        ),
        ("driver_mode", "os_type", "os_sku"),
    ),
)


DRIVER_NONE_WITH_MANAGED = Rule(
    id="AKSGPU206",
    name="driver-none-with-managed",
    severity="error",
    summary="A managed GPU pool lets AKS install the driver.",
    why=(
        "AKS ignores driver None on a managed pool, so the pool gets a driver that its author meant to "
        "bring; a driver "
        "of your own would then be the second one on the node."
    ),
    fix=(
        "Set gpuProfile.driver to Install (or leave it out), or set managementMode to Unmanaged to bring your "
        "own driver."
    ),
    source=_MANAGED_ARTICLE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.is_managed(), equals(pool.gpu_driver, "None")),
        lambda pool: f"Pool {pool.label} has managementMode Managed with gpuProfile.driver None.",
        ("management_mode", "gpu_driver"),
    ),
)


DRA_WITH_MIG = Rule(
    id="AKSGPU207",
    name="dra-with-mig",
    severity="error",
    summary="A DRA pool hands out whole GPUs.",
    why=(
        "The MIG strategy only concerns the device plugin; on a DRA pool the GPUs are partitioned "
        "before the DRA driver "
        "starts, and a class that selects whole GPUs then finds none."
    ),
    fix=(
        "Remove migStrategy, migProfiles and gpuInstanceProfile, or use a managed pool with driverMode "
        "DevicePlugin for MIG."
    ),
    source="Azure/AgentBaker, cse_config.sh; Microsoft Learn: Use DRA for NVIDIA GPUs in AKS, Plan the migration",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.asks_for_dra(), uses_mig(pool)),
        lambda pool: (
            f"Pool {pool.label} has driverMode DRA with MIG (migStrategy {pool.mig_strategy}, migProfiles "
            f"{list(pool.mig_profiles) if isinstance(pool.mig_profiles, tuple) else None}, gpuInstanceProfile "
            f"{pool.gpu_instance_profile})."
        ),
        ("driver_mode", "mig_strategy", "mig_profiles", "gpu_instance_profile"),
    ),
)


def _has_device_plugin_tag(pool: PoolFacts) -> Truth:
    if isinstance(pool.vm_tags, Unknown):
        return UNKNOWN
    tags = {key.casefold(): value for key, value in (pool.vm_tags or {}).items()}
    return tags.get(node_pools.DEVICE_PLUGIN_TAG.casefold(), "").casefold() == "true"


GPU_EXPERIENCE_TAG = Rule(
    id="AKSGPU210",
    name="gpu-experience-tag",
    severity="error",
    summary="A DRA pool doesn't carry the VM tag that starts the device plugin.",
    why=(
        f"The tag {node_pools.DEVICE_PLUGIN_TAG}=true switches the node's device plugin on. Together "
        "with DRA the node's "
        "start-up ends with exit code 123 and the node never joins."
    ),
    fix=f"Remove the tag {node_pools.DEVICE_PLUGIN_TAG} from the pool.",
    source="Azure/AgentBaker, cse_config.sh",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.asks_for_dra(), _has_device_plugin_tag(pool)),
        lambda pool: f"Pool {pool.label} has driverMode DRA and the VM tag {node_pools.DEVICE_PLUGIN_TAG}=true.",
        ("driver_mode", "vm_tags"),
    ),
)


RULES = (
    DRA_NEEDS_MANAGED_GPU,
    DRA_WITH_AUTOSCALER,
    DRA_WITH_NODE_AUTOPROVISIONING,
    DRA_OS_SKU,
    DRIVER_NONE_WITH_MANAGED,
    DRA_WITH_MIG,
    GPU_EXPERIENCE_TAG,
)
