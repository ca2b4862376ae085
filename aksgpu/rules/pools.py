"""AKSGPU2xx: what a node pool may combine."""

from aksgpu.facts.clusters import ClusterFacts
from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, all_of, any_of, equals, is_true, not_, one_of
from aksgpu.knowledge import azure_api, gpu_sizes, node_pools
from aksgpu.rules.checks import FAILS_OR_WAITS, each_pool, each_pool_in_cluster
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
    return f"Pool {pool.label} has driverMode DRA in cluster {cluster.name}, whose node auto-provisioning mode is Auto."


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


def _refused_os(pool: PoolFacts) -> Truth:
    return any_of(
        equals(pool.os_type, "Windows"), one_of(pool.os_sku, node_pools.DRA_REFUSED_OS_SKUS), _windows_sku(pool)
    )


def _windows_sku(pool: PoolFacts) -> Truth:
    if isinstance(pool.os_sku, Unknown):
        return UNKNOWN
    return (pool.os_sku or "").casefold().startswith("windows")


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
        lambda pool: all_of(pool.asks_for_dra(), _refused_os(pool)),
        lambda pool: (
            f"Pool {pool.label} has driverMode DRA with osType {pool.os_type or 'Linux'}, osSKU {pool.os_sku}."
        ),
        ("driver_mode", "os_type", "os_sku"),
    ),
)


def _written_gpu_fields(pool: PoolFacts) -> dict[str, object]:
    return {
        "managementMode": pool.management_mode,
        "driverMode": pool.driver_mode,
        "migStrategy": pool.mig_strategy,
        "migProfiles": pool.mig_profiles,
    }


def _is_lost(pool: PoolFacts, field: str) -> Truth:
    version = pool.form.api_version
    if isinstance(version, Unknown):
        return UNKNOWN
    if version is None:
        return False
    has = azure_api.has_field(version, field)
    # A version that the table can't judge is not called wrong: the read-back after creation decides.
    return has is False


def _lost_fields(pool: PoolFacts) -> Truth:
    return any_of(
        *(
            all_of(UNKNOWN if isinstance(value, Unknown) else value is not None, _is_lost(pool, field))
            for field, value in _written_gpu_fields(pool).items()
        )
    )


def _lost_message(pool: PoolFacts) -> str:
    lost = [
        azure_api.FIELD_PATHS[field]
        for field, value in _written_gpu_fields(pool).items()
        if value is not None and _is_lost(pool, field) is True
    ]
    form = pool.form.token or pool.form.kind
    return (
        f"Pool {pool.label} sets {', '.join(lost)}, but is written as {form}, which sends api-version "
        f"{pool.form.api_version}; that version doesn't have {'it' if len(lost) == 1 else 'them'}."
    )


DRIVER_MODE_LOST = Rule(
    id="AKSGPU205",
    name="driver-mode-lost",
    severity="error",
    summary="A pool's GPU settings are written in a form that reaches Azure.",
    why=(
        "pulumi-azure-native silently drops properties that its api-version doesn't have. The pool is then created "
        "without an error in another mode: driver only, or with the device plugin instead of DRA."
    ),
    fix=(
        "Use the component aksgpu:index:NodePool, or azure-native:resources:Resource with apiVersion "
        f"{azure_api.MANAGED_DRA_API_VERSION} (driverMode needs 2026-06-02-preview or later)."
    ),
    source="pulumi-azure-native, convert/sdkInputsToRequestBody.go; azure-mgmt-containerservice, NvidiaGPUProfile",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(_lost_fields, _lost_message, ("management_mode", "driver_mode", "mig_strategy", "mig_profiles")),
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


def _uses_mig(pool: PoolFacts) -> Truth:
    written = any_of(
        *(
            UNKNOWN if isinstance(value, Unknown) else bool(value)
            for value in (pool.mig_profiles, pool.gpu_instance_profile)
        )
    )
    return any_of(one_of(pool.mig_strategy, ("Single", "Mixed")), written)


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
        lambda pool: all_of(pool.asks_for_dra(), _uses_mig(pool)),
        lambda pool: (
            f"Pool {pool.label} has driverMode DRA with MIG (migStrategy {pool.mig_strategy}, migProfiles "
            f"{list(pool.mig_profiles) if isinstance(pool.mig_profiles, tuple) else None}, gpuInstanceProfile "
            f"{pool.gpu_instance_profile})."
        ),
        ("driver_mode", "mig_strategy", "mig_profiles", "gpu_instance_profile"),
    ),
)


def _bad_name(pool: PoolFacts) -> Truth:
    if isinstance(pool.name, Unknown):
        return UNKNOWN
    return pool.name is not None and node_pools.name_problem(pool.name, windows=_is_windows(pool)) is not None


def _is_windows(pool: PoolFacts) -> bool:
    return equals(pool.os_type, "Windows") is True


POOL_NAME = Rule(
    id="AKSGPU208",
    name="pool-name",
    severity="error",
    summary="A pool's name is one that AKS accepts.",
    why="AKS refuses other names, and only when the request arrives: after everything else has been created.",
    fix="Use 1 to 12 lower-case letters and digits, starting with a letter (6 for Windows); dashes are not allowed.",
    source="Microsoft Learn: Create node pools for a cluster in AKS",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        _bad_name,
        lambda pool: f"The name '{pool.name}' {node_pools.name_problem(str(pool.name), windows=_is_windows(pool))}.",
        ("name",),
    ),
    pillars=("Operational Excellence",),
)

DRIVER_MODE_NOT_SET = Rule(
    id="AKSGPU209",
    name="driver-mode-not-set",
    severity="warning",
    summary="A managed GPU pool says which driver mode it wants.",
    why=(
        "A managed pool without driverMode runs the device plugin, the API states no default, and the mode can't be "
        "changed later: an omission is easily a surprise."
    ),
    fix="Set gpuProfile.nvidia.driverMode to DRA or DevicePlugin, at an api-version that has the field.",
    source=_DRA_ARTICLE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(
            pool.is_managed(), UNKNOWN if isinstance(pool.driver_mode, Unknown) else pool.driver_mode is None
        ),
        lambda pool: f"Pool {pool.label} has managementMode Managed and no driverMode, which means DevicePlugin.",
        ("management_mode", "driver_mode"),
    ),
    pillars=("Operational Excellence",),
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


def _size_is(pool: PoolFacts, kind: gpu_sizes.Kind) -> Truth:
    if isinstance(pool.vm_size, Unknown):
        return UNKNOWN
    return pool.vm_size is not None and gpu_sizes.kind(pool.vm_size) == kind


GPU_SIZE_REQUIRED = Rule(
    id="AKSGPU211",
    name="gpu-size-required",
    severity="error",
    summary="A managed GPU pool has a VM size with NVIDIA GPUs.",
    why="A size without NVIDIA GPUs gives nodes that advertise nothing; AKS may refuse it or create idle nodes.",
    fix="Choose a size with NVIDIA GPUs, for example Standard_NC24ads_A100_v4, or remove the GPU settings.",
    source="karpenter-provider-azure, supported-gpus.yaml; Microsoft Learn: GPU accelerated VM sizes",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        lambda pool: all_of(pool.asks_for_gpu(), _size_is(pool, "no-nvidia")),
        lambda pool: f"Pool {pool.label} has managed GPU settings on {pool.vm_size}, a size without NVIDIA GPUs.",
        ("management_mode", "driver_mode", "vm_size"),
    ),
    pillars=("Cost Optimization", "Reliability"),
)


def _unknown_size_message(pool: PoolFacts) -> str:
    similar = gpu_sizes.near(str(pool.vm_size))
    hint = f" Sizes that look like it: {', '.join(similar)}." if similar else ""
    return f"Pool {pool.label} has managed GPU settings on '{pool.vm_size}', a size this table doesn't know.{hint}"


UNKNOWN_VM_SIZE = Rule(
    id="AKSGPU212",
    name="unknown-vm-size",
    severity="warning",
    summary="A managed GPU pool's VM size is one that is known to have NVIDIA GPUs.",
    why="A misspelt size fails only when Azure creates the nodes; a new size may not have a supported driver yet.",
    fix="Correct the size, or check with `az vm list-skus` that it exists in your region and has NVIDIA GPUs.",
    source=f"The table of GPU sizes as of {gpu_sizes.AS_OF:%Y-%m-%d}, aksgpu/knowledge/gpu_sizes.py",
    on_unknown="Waits as AKSGPU211 does, which says so; this rule keeps silent.",
    check=lambda estate: (
        verdict
        for verdict in each_pool(
            lambda pool: all_of(pool.asks_for_gpu(), _size_is(pool, "unknown")), _unknown_size_message, ("vm_size",)
        )(estate)
        if not verdict.undecided
    ),
    pillars=("Cost Optimization",),
)

RULES = (
    DRA_NEEDS_MANAGED_GPU,
    DRA_WITH_AUTOSCALER,
    DRA_WITH_NODE_AUTOPROVISIONING,
    DRA_OS_SKU,
    DRIVER_MODE_LOST,
    DRIVER_NONE_WITH_MANAGED,
    DRA_WITH_MIG,
    POOL_NAME,
    DRIVER_MODE_NOT_SET,
    GPU_EXPERIENCE_TAG,
    GPU_SIZE_REQUIRED,
    UNKNOWN_VM_SIZE,
)
