"""Requests and replies of the Azure endpoint, independent of the web framework."""

from dataclasses import dataclass, field
from typing import Any

from twin.account import SUBSCRIPTION
from twin.arm.errors import ArmError


@dataclass(frozen=True)
class Request:
    """One request that passed the token check and was matched to a route."""

    method: str
    path: str
    base: str
    """Where this endpoint is, e.g. `https://127.0.0.1:8443`."""
    args: dict[str, str]
    """The variable parts of the path."""
    query: dict[str, str]
    api_version: str
    body: Any
    """The JSON body; None when there was none."""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def subscription(self) -> str:
        """The subscription id in the path."""
        return self.args.get("subscription", SUBSCRIPTION)

    @property
    def group_id(self) -> str:
        """The ARM id of the resource group in the path."""
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.args['group']}"

    @property
    def cluster_id(self) -> str:
        """The ARM id of the managed cluster in the path."""
        return f"{self.group_id}/providers/Microsoft.ContainerService/managedClusters/{self.args['cluster']}"

    @property
    def pool_id(self) -> str:
        """The ARM id of the agent pool in the path."""
        return f"{self.cluster_id}/agentPools/{self.args['pool']}"

    def object(self) -> dict[str, Any]:
        """Return the body; raises ArmError when it isn't a JSON object."""
        if not isinstance(self.body, dict):
            raise ArmError(
                400, "InvalidRequestContent", "The request content was invalid: the body must be a JSON object."
            )
        return self.body


@dataclass(frozen=True)
class Reply:
    """What to answer."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
