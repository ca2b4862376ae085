"""Which version changes AKS allows."""

from typing import Any

from twin.arm.errors import ArmError
from twin.arm.service import Document, Service
from twin.arm.versions import is_recovery, minor_of, number, offered, pool_upgrades, resolve, upgrades, well_formed

SKEW = 3
"""How many minors a pool may be behind its control plane."""
_SKEW_LINK = "For more information, please check https://aka.ms/version-skew-policy"
_LTS = "AKSLongTermSupport"


def long_term(cluster_properties: dict[str, Any]) -> bool:
    """Say whether the cluster has long-term support."""
    return cluster_properties.get("supportPlan") == _LTS


def new_cluster_version(service: Service, name: str, wanted: str, *, lts: bool) -> str:
    """Return the full version of a new cluster; raises ArmError when it isn't offered."""
    version = resolve(wanted, service.settings.today, long_term=lts)
    if version:
        return version
    if well_formed(wanted) and wanted.count(".") == 1:
        raise ArmError(
            400,
            "UnsupportedAliasMinorVersion",
            f"{wanted} is not a supported Kubernetes version. To see our supported AKS version list please visit "
            f"https://aka.ms/supported-version-list. Supported: {_supported(service, lts=lts)}.",
        )
    raise ArmError(
        400,
        "K8sVersionNotSupported",
        f"Managed cluster {name} is on version {wanted}, which is not supported in this region. Please use [az aks "
        "get-versions] command to get the supported version list in this region. For more information, please "
        "check https://aka.ms/supported-version-list",
    )


def _supported(service: Service, *, lts: bool) -> str:
    return ", ".join(minor.name for minor in offered(service.settings.today, long_term=lts))


def changed_cluster_version(service: Service, cluster: Document, wanted: str) -> str:
    """Return the full version that `wanted` means for an existing cluster; raises ArmError when refused.

    The minor of the running version (`1.35` on 1.35.3) means no change.
    """
    current = cluster["properties"]["currentKubernetesVersion"]
    if wanted == current or (wanted.count(".") == 1 and minor_of(wanted) == minor_of(current)):
        return current
    lts = long_term(cluster["properties"])
    version = resolve(wanted, service.settings.today, long_term=lts)
    available = upgrades(current, service.settings.today, long_term=lts)
    if version in available:
        return version
    if well_formed(wanted) and number(wanted) < number(current):
        raise ArmError(
            400,
            "OperationNotAllowed",
            f"Downgrading Kubernetes version {current} to {wanted} is not allowed.",
            target="properties.kubernetesVersion",
        )
    if version is None:
        return new_cluster_version(service, cluster["name"], wanted, lts=lts)
    raise ArmError(
        400,
        "OperationNotAllowed",
        f"Upgrading Kubernetes version {current} to {version} is not allowed. Available upgrades: "
        f"[{', '.join(available)}]. Please see https://aka.ms/aks-supported-k8s-ver for version details.",
        target="properties.kubernetesVersion",
    )


def check_skew(pool_version: str, control_plane: str) -> None:
    """Raise ArmError when a pool would be above its control plane, or too far behind it."""
    ahead, behind = minor_of(pool_version) - minor_of(control_plane), minor_of(control_plane) - minor_of(pool_version)
    reason = ""
    if ahead > 0:
        reason = (
            f"Minor version of node pool version {minor_of(pool_version)} is bigger than control plane version "
            f"{minor_of(control_plane)}."
        )
    elif number(pool_version) > number(control_plane):
        reason = "The node pool version is bigger than the control plane version."
    elif behind > SKEW:
        reason = (
            f"Minor version of node pool version {minor_of(pool_version)} is more than {SKEW} versions behind "
            f"control plane version {minor_of(control_plane)}."
        )
    if reason:
        raise ArmError(
            400,
            "NodePoolMcVersionIncompatible",
            f"Node pool version {pool_version} and control plane version {control_plane} are incompatible. {reason} "
            f"{_SKEW_LINK}",
            target="properties.orchestratorVersion",
        )


def new_pool_version(service: Service, cluster: Document, wanted: str | None) -> str:
    """Return the full version of a new pool, by default the control plane's."""
    control_plane = cluster["properties"]["currentKubernetesVersion"]
    if wanted is None or wanted == control_plane or _same_minor(wanted, control_plane):
        return control_plane
    version = resolve(wanted, service.settings.today, long_term=long_term(cluster["properties"]))
    if version is None:
        raise ArmError(
            400,
            "AgentPoolK8sVersionNotSupported",
            f"Version {wanted} is not supported in this region. Please use [az aks get-versions] command to get the "
            "supported version list in this region. For more information, please check "
            "https://aka.ms/supported-version-list",
            target="properties.orchestratorVersion",
        )
    check_skew(version, control_plane)
    return version


def _same_minor(wanted: str, version: str) -> bool:
    return wanted.count(".") == 1 and well_formed(wanted) and minor_of(wanted) == minor_of(version)


def changed_pool_version(
    service: Service, cluster: Document, current: str, wanted: str, *, skipping: bool = False
) -> str:
    """Return the full version that `wanted` means for an existing pool; raises ArmError when refused.

    `skipping`: the whole cluster skips minors on its way out of a version without support.
    """
    if wanted == current or _same_minor(wanted, current):
        return current
    version = new_pool_version(service, cluster, wanted)
    control_plane = cluster["properties"]["currentKubernetesVersion"]
    lts = long_term(cluster["properties"])
    if not skipping and version not in pool_upgrades(current, control_plane, service.settings.today, long_term=lts):
        raise ArmError(
            400,
            "AgentPoolUpgradeVersionNotAllowed",
            f"Upgrade agent pool version from {current} to {version} is not allowed, you can only upgrade one minor "
            "version at a time. Please use [az aks get-upgrades] command to get the supported upgrade paths. "
            f"{_SKEW_LINK}",
            target="properties.orchestratorVersion",
        )
    return version


_MOVING_CHANNELS = {"patch", "stable", "rapid"}
"""Auto-upgrade channels that move the control plane and the pools, and allow nobody to move them apart."""


def check_profiles(
    service: Service, old: Document, cluster: Document, stored: dict[str, Document], profiles: list[dict[str, Any]]
) -> bool:
    """Raise ArmError unless the pool versions in a cluster's PUT fit to its own change of version.

    They are all left alone or all taken to the control plane's. Returns whether the cluster skips minors.
    """
    after = cluster["properties"]["currentKubernetesVersion"]
    allowed = {cluster["properties"]["kubernetesVersion"], after}
    given = {profile["name"]: profile.get("orchestratorVersion") for profile in profiles}
    current = {
        name: {pool["properties"]["orchestratorVersion"], pool["properties"]["currentOrchestratorVersion"]}
        for name, pool in stored.items()
    }
    changing = [name for name, version in given.items() if version and version not in current[name]]
    staying = [name for name, versions in current.items() if name not in changing and not allowed & versions]
    if changing and (staying or any(given[name] not in allowed for name in changing)):
        raise _not_all()
    whole = all(given.get(name) in allowed for name in stored)
    return _check_control_plane_alone(service, old["properties"]["currentKubernetesVersion"], cluster, whole=whole)


def _check_control_plane_alone(service: Service, before: str, cluster: Document, *, whole: bool) -> bool:
    """Raise ArmError when the control plane can't be upgraded without the pools; return whether it skips minors."""
    properties, after = cluster["properties"], cluster["properties"]["currentKubernetesVersion"]
    skipping = is_recovery(before, after, service.settings.today, long_term=long_term(properties))
    channel = properties.get("autoUpgradeProfile", {}).get("upgradeChannel")
    if before != after and not whole and channel in _MOVING_CHANNELS:
        raise _not_all()
    if skipping and not whole:
        raise ArmError(
            400,
            "OperationNotAllowed",
            f"Upgrading Kubernetes version {before}, which is out of support, to {after} skips minor versions. It is "
            "only allowed for the control plane and all agent pools in one operation.",
            target="properties.kubernetesVersion",
        )
    return skipping


def _not_all() -> ArmError:
    return ArmError(
        400,
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged",
        "Using managed cluster api, all Agent pools' OrchestratorVersion must be all specified or all unspecified. "
        "If all specified, they must be stay unchanged or the same with control plane. For agent pool specific "
        "change, please use per agent pool operations: https://aka.ms/agent-pool-rest-api",
        target="agentPoolProfiles",
    )
