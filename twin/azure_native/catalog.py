"""The resources and functions the plugin knows, beyond the names and types of their fields.

Paths are those of the Azure REST API. What replaces a resource is the table in the real provider's
`gen/replacement.go`; lengths and patterns are those of the REST specifications.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from twin.azure_native.tokens import Token
from twin.errors import TwinError

CREATE_BEFORE_DELETE = "__createBeforeDelete"
"""Input by which the provider remembers that it made up a random name."""


@dataclass(frozen=True)
class Text:
    """What a string must look like."""

    shortest: int = 0
    longest: int | None = None
    pattern: str = ""


@dataclass(frozen=True)
class Resource:
    """One resource type."""

    path: str
    """ARM id, with the names of inputs in braces."""
    auto_name: Literal["random", "copy"]
    """How a missing name is made: logical name and 8 random hex digits, or the logical name itself."""
    replaced_by: frozenset[str] = frozenset()
    """Body fields, as paths, whose change replaces the resource; parts of the path always do."""
    query: tuple[str, ...] = ()
    """Required inputs that are neither in the path nor in the body."""
    needs_location: bool = False
    """Whether Azure needs a location; a missing one is taken from the configuration or the resource group."""
    texts: Mapping[str, Text] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The inputs that are parts of the path, in its order."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{") and part != "{subscriptionId}")

    @property
    def user_version(self) -> bool:
        """Whether the program chooses the api-version of requests."""
        return "apiVersion" in self.query

    @property
    def outside_body(self) -> tuple[str, ...]:
        """The inputs that are not sent in the body."""
        return (*self.parameters, *self.query)

    @property
    def name_parameter(self) -> str:
        """The input that is the resource's own name."""
        return self.parameters[-1]


@dataclass(frozen=True)
class Function:
    """One function: a GET of a resource, or a POST that lists its credentials."""

    resource: str
    """The resource it reads, as a kind."""
    action: str = ""
    """Appended to the resource's path and POSTed; empty for a GET."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Arguments that go into the query: name in the program to name in the query."""


_GROUP = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
_CLUSTER = f"{_GROUP}/providers/Microsoft.ContainerService/managedClusters/{{resourceName}}"
_GROUP_NAME = Text(1, 90)
_CLUSTER_NAME = Text(1, 63, r"^[a-zA-Z0-9]$|^[a-zA-Z0-9][-_a-zA-Z0-9]{0,61}[a-zA-Z0-9]$")
_NETWORK = (
    "serviceCidr",
    "serviceCidrs",
    "dnsServiceIP",
    "networkMode",
    "networkPlugin",
    "networkPluginMode",
    "podCidr",
    "networkDataplane",
    "networkPolicy",
    "outboundType",
)

RESOURCES: Mapping[str, Resource] = {
    "resources:ResourceGroup": Resource(
        path="/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}",
        auto_name="random",
        needs_location=True,
        replaced_by=frozenset({"location"}),
        texts={"resourceGroupName": _GROUP_NAME},
    ),
    "resources:Resource": Resource(
        path=f"{_GROUP}/providers/{{resourceProviderNamespace}}/{{parentResourcePath}}/{{resourceType}}/"
        "{resourceName}",
        auto_name="random",
        query=("apiVersion",),
        texts={"resourceGroupName": _GROUP_NAME},
    ),
    "containerservice:ManagedCluster": Resource(
        path=_CLUSTER,
        auto_name="random",
        needs_location=True,
        replaced_by=frozenset(
            {
                "diskEncryptionSetID",
                "dnsPrefix",
                "fqdnSubdomain",
                "linuxProfile",
                "location",
                "nodeResourceGroup",
                "windowsProfile",
                *(f"networkProfile.{name}" for name in _NETWORK),
            }
        ),
        texts={"resourceGroupName": _GROUP_NAME, "resourceName": _CLUSTER_NAME},
    ),
    "containerservice:AgentPool": Resource(
        path=f"{_CLUSTER}/agentPools/{{agentPoolName}}",
        auto_name="copy",
        replaced_by=frozenset({"gpuInstanceProfile", "vmSize", "networkProfile.nodePublicIPTags"}),
        texts={
            "resourceGroupName": _GROUP_NAME,
            "resourceName": _CLUSTER_NAME,
            "agentPoolName": Text(1, 12, r"^[a-z][a-z0-9]{0,11}$"),
        },
    ),
    "features:SubscriptionFeatureRegistration": Resource(
        path="/subscriptions/{subscriptionId}/providers/Microsoft.Features/featureProviders/{providerNamespace}"
        "/subscriptionFeatureRegistrations/{featureName}",
        auto_name="copy",
    ),
}
"""Kind to resource; the fields of each come from the metadata."""

_FORMAT = {"format": "format", "serverFqdn": "server-fqdn"}

FUNCTIONS: Mapping[str, Function] = {
    "containerservice:getManagedCluster": Function("containerservice:ManagedCluster"),
    "containerservice:getAgentPool": Function("containerservice:AgentPool"),
    "containerservice:listManagedClusterUserCredentials": Function(
        "containerservice:ManagedCluster", "listClusterUserCredential", _FORMAT
    ),
    "containerservice:listManagedClusterAdminCredentials": Function(
        "containerservice:ManagedCluster", "listClusterAdminCredential", {"serverFqdn": "server-fqdn"}
    ),
    "resources:getResourceGroup": Function("resources:ResourceGroup"),
    "resources:getResource": Function("resources:Resource"),
    "features:getSubscriptionFeatureRegistration": Function("features:SubscriptionFeatureRegistration"),
}

CLIENT_FUNCTIONS = ("authorization:getClientConfig", "authorization:getClientToken")
"""Functions answered from the provider's own configuration."""


def resource(token: Token, written: str) -> Resource:
    """Return the resource a token names; raises TwinError, naming the token as `written`, if not known."""
    known = RESOURCES.get(token.kind)
    if known is None:
        raise TwinError(
            f"Resource type {written} not found. The twin knows only these resources of azure-native: "
            f"{', '.join(sorted(RESOURCES))}. Leave this resource out on the twin, or run the program on Azure."
        )
    return known


def function(token: Token, written: str) -> Function:
    """Return the function a token names; raises TwinError, naming the token as `written`, if not known."""
    known = FUNCTIONS.get(token.kind)
    if known is None:
        raise TwinError(
            f"Invoke type {written} not found. The twin knows only these functions of azure-native: "
            f"{', '.join(sorted([*FUNCTIONS, *CLIENT_FUNCTIONS]))}. Leave this call out on the twin, or run the "
            "program on Azure."
        )
    return known
