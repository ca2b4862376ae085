"""The cluster's part of the configuration."""

from typing import Annotated, Any, Literal

from aksgpu.settings.parts import (
    AKS,
    ARTICLE,
    OURS,
    ArmId,
    Cidr,
    ClusterName,
    Doc,
    Ip,
    Location,
    Nodes,
    Part,
    ResourceGroup,
    Version,
    VmSize,
    Zone,
)


class SystemPool(Part):
    """The pool of a created cluster that runs the cluster's own pods."""

    vm_size: Annotated[VmSize, Doc("VM size, without GPUs", OURS)] = "Standard_D4s_v5"
    count: Annotated[Nodes, Doc("Nodes", OURS)] = 1
    zones: Annotated[list[Zone] | None, Doc("Availability zones; left out, Azure chooses", AKS)] = None
    subnet_id: Annotated[
        ArmId | None, Doc("ARM id of the nodes' subnet; left out, AKS makes a virtual network", AKS)
    ] = None


class NetworkSettings(Part):
    """The network of a created cluster: Azure CNI in overlay mode, unless told otherwise."""

    plugin_mode: Annotated[Literal["overlay"] | None, Doc("Pods get addresses of their own range", AKS)] = None
    dataplane: Annotated[Literal["azure", "cilium"] | None, Doc("Left out, AKS chooses", AKS)] = None
    policy: Annotated[
        Literal["azure", "calico", "cilium"] | None, Doc("Network policy engine; none if left out", AKS)
    ] = None
    pod_cidr: Annotated[Cidr | None, Doc("Addresses of pods", AKS)] = None
    service_cidr: Annotated[Cidr | None, Doc("Addresses of services", AKS)] = None
    dns_service_ip: Annotated[Ip | None, Doc("Address of the cluster's DNS, inside serviceCidr", AKS)] = None
    outbound_type: Annotated[
        Literal["loadBalancer", "userDefinedRouting", "managedNATGateway", "userAssignedNATGateway", "none"] | None,
        Doc("How traffic leaves; loadBalancer if left out", AKS),
    ] = None


class ApiServerSettings(Part):
    """Who reaches the API server of a created cluster."""

    private: Annotated[bool, Doc("Only from inside the virtual network", AKS)] = False
    private_dns_zone: Annotated[str | None, Doc("ARM id of the private DNS zone, system or none", AKS)] = None
    authorized_ip_ranges: Annotated[
        list[Cidr] | None, Doc("Ranges that may reach a public API server; everybody if left out", AKS)
    ] = None


class CreateCluster(Part):
    """A cluster that the stack owns."""

    resource_group: Annotated[ResourceGroup, Doc("Resource group, created too", AKS)]
    name: Annotated[ClusterName, Doc("Name of the cluster", AKS)]
    location: Annotated[Location, Doc("Azure region, e.g. eastus", AKS)]
    kubernetes_version: Annotated[Version, Doc("Minor or patch version, in quotes", ARTICLE)] = "1.35"
    system_pool: Annotated[SystemPool, Doc("The pool for the cluster's own pods", AKS)] = SystemPool()
    tier: Annotated[
        Literal["Free", "Standard", "Premium"], Doc("Standard has an uptime agreement, Premium long-term support", AKS)
    ] = "Free"
    support_plan: Annotated[
        Literal["KubernetesOfficial", "AKSLongTermSupport"] | None, Doc("Long-term support needs tier Premium", AKS)
    ] = None
    network: Annotated[NetworkSettings | None, Doc("Left out: Azure CNI in overlay mode", OURS)] = None
    api_server: Annotated[ApiServerSettings | None, Doc("Who reaches the API server; everybody if left out", AKS)] = (
        None
    )
    admin_groups: Annotated[
        list[str] | None, Doc("Object ids of Entra ID groups that administer the cluster; turns Entra ID on", AKS)
    ] = None
    azure_rbac: Annotated[bool, Doc("Roles of Azure decide who may do what; turns Entra ID on", AKS)] = False
    local_accounts: Annotated[bool, Doc("Whether local administrator certificates work; without, kubelogin", AKS)] = (
        True
    )
    identity_id: Annotated[
        ArmId | None, Doc("ARM id of a user-assigned identity; left out, one of the cluster's own", AKS)
    ] = None
    upgrade_channel: Annotated[
        Literal["none", "patch", "stable", "rapid", "node-image"],
        Doc("Automatic upgrades; none, so that only this program moves the version", OURS),
    ] = "none"
    node_os_upgrade_channel: Annotated[
        Literal["None", "Unmanaged", "SecurityPatch", "NodeImage"],
        Doc("Automatic node images; None, because an image brings another GPU driver and drains its nodes", OURS),
    ] = "None"
    tags: Annotated[dict[str, str] | None, Doc("Azure tags of the cluster", AKS)] = None
    further_properties: Annotated[
        dict[str, Any] | None, Doc("Further properties, spelt as in the REST API; judged like all others", AKS)
    ] = None


class UseCluster(Part):
    """A cluster that exists: never changed, never destroyed."""

    resource_group: Annotated[ResourceGroup, Doc("Resource group of the cluster", ARTICLE)]
    name: Annotated[ClusterName, Doc("Name of the cluster", ARTICLE)]


class ClusterSettings(Part):
    """Where the pools go; exactly one of the two."""

    create: Annotated[CreateCluster | None, Doc("Create this cluster", OURS)] = None
    use: Annotated[UseCluster | None, Doc("Add pools to this existing cluster", ARTICLE)] = None

    @property
    def one(self) -> CreateCluster | UseCluster:
        """The one that was given; loading refuses both and neither."""
        given = self.create or self.use
        assert given is not None  # noqa: S101 - `load` has checked it
        return given
