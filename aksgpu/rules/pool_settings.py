"""AKSGPU205 to 220: settings of GPU pools that AKS refuses, ignores or reads otherwise than they look."""

from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN, Truth, Unknown, all_of, any_of, equals, not_
from aksgpu.knowledge import azure_api, gpu_sizes, node_pools
from aksgpu.rules.checks import FAILS_OR_WAITS, each_pool, said
from aksgpu.rules.gpu_pools import has_gpus, runs_one_of, size_is
from aksgpu.rules.model import Rule

_DRA_ARTICLE = "Microsoft Learn: Use dynamic resource allocation for NVIDIA GPUs in AKS (preview), Limitations"
_MANAGED_ARTICLE = "Microsoft Learn: AKS-managed GPU node pools (preview)"


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
        lambda pool: all_of(pool.asks_for_gpu(), size_is(pool, "no-nvidia")),
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
            lambda pool: all_of(pool.asks_for_gpu(), size_is(pool, "unknown")), _unknown_size_message, ("vm_size",)
        )(estate)
        if not verdict.undecided
    ),
    pillars=("Cost Optimization",),
)

MANAGED_GPU_OS = Rule(
    id="AKSGPU213",
    name="managed-gpu-os",
    severity="error",
    summary="A managed GPU pool with the device plugin runs Linux, in an OS SKU that AKS supports with NVIDIA GPUs.",
    why="AKS has its managed NVIDIA software for Linux only, and none for Flatcar and OS Guard.",
    fix="Leave osSKU out to get the default, or use Ubuntu or AzureLinux with osType Linux; or manage it yourself.",
    source=_MANAGED_ARTICLE,
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        # A DRA pool is AKSGPU204's business.
        lambda pool: all_of(
            pool.is_managed(),
            not_(pool.asks_for_dra()),
            runs_one_of(pool, node_pools.MANAGED_GPU_REFUSED_OS_SKUS),
        ),
        lambda pool: (
            f"Pool {pool.label} has managementMode Managed with osType {said(pool.os_type, 'Linux')}, osSKU "
            f"{pool.os_sku}."
        ),
        ("management_mode", "driver_mode", "os_type", "os_sku"),
    ),
)


def _is_zero(amount: object) -> bool:
    return isinstance(amount, str) and amount.strip().removesuffix("%") == "0"


def _wrong_upgrade_settings(pool: PoolFacts) -> Truth:
    surge, unavailable = pool.max_surge, pool.max_unavailable
    no_surge = UNKNOWN if isinstance(surge, Unknown) else _is_zero(surge)
    no_unavailable = UNKNOWN if isinstance(unavailable, Unknown) else unavailable is None or _is_zero(unavailable)
    stuck = all_of(no_surge, no_unavailable)
    return all_of(has_gpus(pool), any_of(stuck, all_of(equals(pool.mode, "System"), not_(no_unavailable))))


UPGRADE_SETTINGS = Rule(
    id="AKSGPU220",
    name="upgrade-settings",
    severity="error",
    summary="A GPU pool's upgrade settings leave AKS a way to upgrade it.",
    why=(
        "With maxSurge 0 AKS adds no node, so it has to take one away, which only maxUnavailable above 0 allows. On a "
        "system pool AKS refuses maxUnavailable."
    ),
    fix="Set upgradeSettings.maxUnavailable to 1 or more beside maxSurge 0; on a system pool leave it out and surge.",
    source="Microsoft Learn: Upgrade options for AKS clusters, customize node surge and unavailable nodes",
    on_unknown=FAILS_OR_WAITS,
    check=each_pool(
        _wrong_upgrade_settings,
        lambda pool: (
            f"Pool {pool.label} (mode {said(pool.mode, 'User')}) has maxSurge {pool.max_surge} and "
            f"maxUnavailable {said(pool.max_unavailable, '0')}."
        ),
        ("management_mode", "driver_mode", "vm_size", "mode", "max_surge", "max_unavailable"),
    ),
    pillars=("Operational Excellence", "Reliability"),
)

RULES = (
    DRIVER_MODE_LOST,
    POOL_NAME,
    DRIVER_MODE_NOT_SET,
    GPU_SIZE_REQUIRED,
    UNKNOWN_VM_SIZE,
    MANAGED_GPU_OS,
    UPGRADE_SETTINGS,
)
