"""The component Cluster."""

from functools import partial
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import authorization, containerservice, resources

from aksgpu.readers.pulumi_resources import PulumiResource, read
from components import cluster_properties, live, typed

_TYPE = "azure-native:containerservice:ManagedCluster"


class SystemPool(TypedDict):
    """The pool that the cluster's own pods run on; part of the cluster."""

    vm_size: NotRequired[str]
    """VM size, `Standard_D4s_v5` if left out."""
    count: NotRequired[int]
    """Number of nodes, 1 if left out."""
    zones: NotRequired[list[str]]
    """Availability zones, e.g. `1`; if left out, Azure chooses."""
    subnet_id: NotRequired[str]
    """ARM id of the subnet of the nodes; if left out, AKS makes a virtual network."""


class ClusterNetwork(TypedDict):
    """The network of a new cluster; left out: Azure CNI in overlay mode."""

    plugin_mode: NotRequired[str]
    """`overlay` if left out."""
    dataplane: NotRequired[str]
    """`azure` or `cilium`."""
    policy: NotRequired[str]
    """`azure`, `calico` or `cilium`."""
    pod_cidr: NotRequired[str]
    """Addresses of pods."""
    service_cidr: NotRequired[str]
    """Addresses of services."""
    dns_service_ip: NotRequired[str]
    """Address of the cluster's DNS, inside the addresses of services."""
    outbound_type: NotRequired[str]
    """How traffic leaves, e.g. `userDefinedRouting`."""


class ApiServerAccess(TypedDict):
    """Who reaches the API server."""

    private: NotRequired[bool]
    """Only from inside the virtual network."""
    private_dns_zone: NotRequired[str]
    """ARM id of the private DNS zone, `system` or `none`."""
    authorized_ip_ranges: NotRequired[list[str]]
    """CIDR ranges that may reach a public API server."""


class NewCluster(TypedDict):
    """A cluster to create, with a resource group of its own."""

    resource_group: str
    """Name of the resource group; it is created too."""
    name: str
    """Name of the cluster."""
    location: str
    """Azure region, e.g. `eastus`."""
    kubernetes_version: str
    """Minor version, e.g. `1.35`."""
    system_pool: NotRequired[SystemPool]
    """The system pool; left out: one Standard_D4s_v5."""
    tier: NotRequired[str]
    """`Free` (if left out), `Standard` with an uptime agreement, or `Premium`, which long-term support needs."""
    support_plan: NotRequired[str]
    """`KubernetesOfficial` or `AKSLongTermSupport`."""
    network: NotRequired[ClusterNetwork]
    """The network; a change of most of it replaces the cluster."""
    api_server: NotRequired[ApiServerAccess]
    """Who reaches the API server; left out: public."""
    admin_groups: NotRequired[list[str]]
    """Object ids of Entra ID groups that administer the cluster; turns sign-in with Entra ID on."""
    azure_rbac: NotRequired[bool]
    """Roles of Azure decide who may do what in the cluster; turns sign-in with Entra ID on."""
    local_accounts: NotRequired[bool]
    """Whether the certificate of a local administrator works; true if left out. Without it `kubelogin` is needed."""
    identity_id: NotRequired[str]
    """ARM id of a user-assigned identity; left out: one of the cluster's own."""
    upgrade_channel: NotRequired[str]
    """Channel of automatic upgrades, `none` if left out, so that only this program moves the version."""
    node_os_upgrade_channel: NotRequired[str]
    """Channel of node images, `None` if left out: a node image brings another GPU driver and drains its nodes."""
    tags: NotRequired[dict[str, str]]
    """Azure tags of the cluster."""
    further_properties: NotRequired[dict[str, Any]]
    """Further properties as the REST API spells them, e.g. `{"azureMonitorProfile": …}`; judged like all others."""


class ExistingCluster(TypedDict):
    """A cluster to use: it is read, never changed, never deleted."""

    resource_group: str
    """Name of its resource group."""
    name: str
    """Its name."""


class ClusterArgs(TypedDict):
    """What a Cluster takes: exactly one of create and use."""

    create: NotRequired[NewCluster]
    """Create this cluster."""
    use: NotRequired[ExistingCluster]
    """Use this cluster, which exists."""
    ready: NotRequired[pulumi.Input[str]]
    """Nothing of a created cluster is made before this is known, e.g. the `state` of a PreviewFeature that its pools
    need."""
    protect: NotRequired[bool]
    """Refuse to delete or replace a created cluster, as production should."""


class Cluster(pulumi.ComponentResource):
    """An AKS cluster, created or adopted, and how to reach it."""

    cluster_id: pulumi.Output[str]
    """The ARM id of the cluster; a Kubernetes provider of your own should have it as its `clusterIdentifier`."""
    resource_group_name: pulumi.Output[str]
    """Name of the resource group."""
    cluster_name: pulumi.Output[str]
    """Name of the cluster."""
    kubernetes_version: pulumi.Output[str]
    """The version asked for, or that an adopted cluster has."""
    node_provisioning: pulumi.Output[str]
    """Node provisioning mode: Manual, or Auto with node auto-provisioning."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig of the cluster user; with Entra ID it calls `kubelogin`."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:Cluster", name, {}, opts)
        create, use = args.get("create"), args.get("use")
        if create is not None and use is None:
            made: list[pulumi.Resource] = [self._create(name, create, args)]
        else:
            self._adopt(use if create is None else None)
            made = []
        # Without the id the credentials of a cluster that is still being created would be asked for.
        known = pulumi.Output.all(self.cluster_id, self.resource_group_name, self.cluster_name)
        self.kubeconfig = pulumi.Output.secret(known.apply(_kubeconfig))
        self.provider = kubernetes.Provider(
            f"{name}-kubernetes",
            kubeconfig=self.kubeconfig,
            # Without it a changed API address would replace the provider, and with it every object.
            cluster_identifier=self.cluster_id,
            opts=pulumi.ResourceOptions(parent=self, depends_on=made),
        )
        self.register_outputs(
            {
                "clusterId": self.cluster_id,
                "resourceGroupName": self.resource_group_name,
                "clusterName": self.cluster_name,
                "kubernetesVersion": self.kubernetes_version,
                "nodeProvisioning": self.node_provisioning,
                "kubeconfig": self.kubeconfig,
            }
        )

    def _create(self, name: str, new: NewCluster, args: ClusterArgs) -> containerservice.ManagedCluster:
        protected = pulumi.ResourceOptions(parent=self, protect=args.get("protect"))
        # Azure refuses pools that are changed through their cluster, and a refresh brings all pools into this list.
        kept = pulumi.ResourceOptions(ignore_changes=["agentPoolProfiles"])
        group = resources.ResourceGroup(
            f"{name}-group",
            resource_group_name=new["resource_group"],
            # The cluster waits too, as it waits for its group.
            location=pulumi.Output.from_input(args.get("ready")).apply(lambda _: new["location"]),
            opts=protected,
        )
        asked = pulumi.Output.from_input(new["name"]).apply(lambda _: _judged(new))
        cluster = containerservice.ManagedCluster(
            name,
            resource_group_name=live.after(group, new["resource_group"]),
            resource_name_=new["name"],
            location=new["location"],
            **typed.inputs(asked, lambda: _arguments(cluster_properties.properties(new))),
            opts=pulumi.ResourceOptions.merge(protected, kept),
        )
        self.cluster_id = cluster.id
        cluster.id.apply(partial(self._compare_system_pool, new))
        self.resource_group_name = live.after(cluster, new["resource_group"])
        self.cluster_name = live.after(cluster, new["name"])
        self.kubernetes_version = pulumi.Output.from_input(new["kubernetes_version"])
        self.node_provisioning = pulumi.Output.from_input("Manual")
        return cluster

    async def _compare_system_pool(self, new: NewCluster, cluster_id: str) -> None:
        """Say when the system pool is not as asked for, since nothing here changes it after the cluster was created."""
        group, name = new["resource_group"], new["name"]
        found = await live.ask(live.azure(cluster_id.split("/")[2]).cluster, group, name)
        wanted = cluster_properties.system_pool(new.get("system_pool", {}))
        pool = next((pool.facts for pool in found.pools if pool.facts.name == wanted["name"]), None) if found else None
        if pool is not None and (pool.vm_size, pool.count) != (wanted["vmSize"], wanted["count"]):
            pulumi.log.warn(
                f"The system pool of {name} has {pool.count} nodes of {pool.vm_size}, and {wanted['count']} of "
                f"{wanted['vmSize']} are asked for. A pool inside a cluster is not changed here: scale it with "
                f"`az aks nodepool scale -g {group} --cluster-name {name} -n {wanted['name']} -c {wanted['count']}`, "
                "or add a pool of mode System and delete this one for another size.",
                self,
            )

    def _adopt(self, existing: ExistingCluster | None) -> None:
        async def read(subscription: str) -> dict[str, Any]:
            if existing is None:
                raise live.RefusedError("A cluster needs exactly one of create and use.")
            group, name = existing["resource_group"], existing["name"]
            found = await live.ask(live.azure(subscription).cluster, group, name)
            if found is None:
                raise live.RefusedError(
                    f"There is no cluster {name} in the resource group {group} of the subscription {subscription}, and "
                    "it was to be used as it is. Correct the names, or create the cluster instead."
                )
            return {
                "resource_group": group,
                "name": name,
                "id": found.id,
                "version": found.facts.kubernetes_version,
                "node_provisioning": found.facts.node_provisioning or "Manual",
            }

        client = authorization.get_client_config_output(pulumi.InvokeOutputOptions(parent=self))
        found: pulumi.Output[dict[str, Any]] = client.subscription_id.apply(read)
        self.cluster_id = found["id"]
        self.resource_group_name = found["resource_group"]
        self.cluster_name = found["name"]
        self.kubernetes_version = found["version"]
        self.node_provisioning = found["node_provisioning"]


async def _kubeconfig(known: list[str]) -> str:
    """Ask Azure through the reader: what an invoke is refused would reach the user as a traceback."""
    cluster_id, group, name = known
    return await live.ask(live.azure(cluster_id.split("/")[2]).kubeconfig, group, name)


def _arguments(request: dict[str, Any]) -> dict[str, Any]:
    return typed.arguments("The cluster", containerservice.ManagedClusterArgs, request)


def _judged(new: NewCluster) -> dict[str, Any]:
    """Judge the cluster as the policy packs read it, then return its arguments."""
    request = cluster_properties.properties(new)
    arguments = _arguments(request)
    live.judge(read(PulumiResource(_TYPE, f"cluster {new['name']}", {**request, "resourceName": new["name"]})))
    return arguments
