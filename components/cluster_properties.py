"""What a Cluster asks Azure for, in the spelling of the REST API."""

from collections.abc import Mapping
from typing import Any

from components import live, typed

_API_SERVER = {
    "private": "enablePrivateCluster",
    "private_dns_zone": "privateDNSZone",
    "authorized_ip_ranges": "authorizedIPRanges",
}
_NETWORK = {
    "plugin_mode": "networkPluginMode",
    "dataplane": "networkDataplane",
    "policy": "networkPolicy",
    "pod_cidr": "podCidr",
    "service_cidr": "serviceCidr",
    "dns_service_ip": "dnsServiceIP",
    "outbound_type": "outboundType",
}
_OPTIONAL = {"support_plan": "supportPlan", "tags": "tags"}


def properties(new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request of a new cluster; refuse counts that are no whole numbers and further keys we set."""
    asked: dict[str, Any] = {
        "dnsPrefix": new["name"],
        "kubernetesVersion": new["kubernetes_version"],
        "identity": _identity(new.get("identity_id")),
        "sku": {"name": "Base", "tier": new.get("tier", "Free")},
        # Workloads get tokens of their own identity instead of the nodes'.
        "oidcIssuerProfile": {"enabled": True},
        "securityProfile": {"workloadIdentity": {"enabled": True}},
        "networkProfile": _network(new.get("network", {})),
        # Nothing but this program moves the version; and node images bring the GPU driver, so no channel may change
        # them under running jobs.
        "autoUpgradeProfile": {
            "upgradeChannel": new.get("upgrade_channel", "none"),
            "nodeOSUpgradeChannel": new.get("node_os_upgrade_channel", "None"),
        },
        # DRA pools don't work with node auto-provisioning; written out so that no default can change that.
        "nodeProvisioningProfile": {"mode": "Manual"},
        "disableLocalAccounts": not new.get("local_accounts", True),
        "agentPoolProfiles": [system_pool(new.get("system_pool", {}))],
    }
    api_server = {
        rest: new["api_server"][key] for key, rest in _API_SERVER.items() if new.get("api_server", {}).get(key)
    }
    if api_server:
        asked["apiServerAccessProfile"] = api_server
    if new.get("admin_groups") or new.get("azure_rbac"):
        asked["aadProfile"] = {
            "managed": True,
            "enableAzureRBAC": bool(new.get("azure_rbac")),
            "adminGroupObjectIDs": list(new.get("admin_groups", [])),
        }
    asked |= {rest: new[key] for key, rest in _OPTIONAL.items() if new.get(key)}
    decided = {**asked, "apiServerAccessProfile": None, "aadProfile": None, **dict.fromkeys(_OPTIONAL.values())}
    return asked | typed.further("The cluster", decided, new.get("further_properties", {}))


def _identity(identity_id: str | None) -> dict[str, Any]:
    if identity_id is None:
        return {"type": "SystemAssigned"}
    return {"type": "UserAssigned", "userAssignedIdentities": [identity_id]}


def _network(given: Mapping[str, Any]) -> dict[str, Any]:
    """Azure CNI in overlay mode: pods don't use up the addresses of the virtual network."""
    network = {"networkPlugin": "azure", "networkPluginMode": "overlay", "loadBalancerSku": "standard"}
    return network | {rest: given[key] for key, rest in _NETWORK.items() if given.get(key)}


def system_pool(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pool that is created inside the cluster."""
    pool: dict[str, Any] = {
        "name": "system",
        "mode": "System",
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "vmSize": given.get("vm_size", "Standard_D4s_v5"),
        "count": live.whole("The count of the system pool", given.get("count", 1), 1),
    }
    optional = {"availabilityZones": given.get("zones"), "vnetSubnetID": given.get("subnet_id")}
    return pool | {key: value for key, value in optional.items() if value}
