"""What all parts of the configuration have in common: how keys are read, and what values look like."""

from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

PROJECT = "aksgpu"
"""The Pulumi project and the namespace of its configuration keys."""

ARTICLE = "DRA article"
KUBERNETES = "Kubernetes API"
AKS = "AKS API"
OURS = "this project"

MAXIMUM_DEVICES = 32
"""Devices of one claim: more are accepted by the API and never scheduled."""

DnsLabel = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
DnsSubdomain = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
ResourceGroup = Annotated[str, StringConstraints(pattern=r"^[\w()._-]{0,89}[\w()_-]$")]
ClusterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$")]
Location = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*$")]
Version = Annotated[str, StringConstraints(pattern=r"^\d{1,3}\.\d{1,3}(\.\d{1,3})?$")]
VmSize = Annotated[str, StringConstraints(pattern=r"^Standard_\w+$")]
Nodes = Annotated[int, Field(ge=1, le=1000)]
PoolNodes = Annotated[int, Field(ge=0, le=1000)]
Amount = Annotated[str, StringConstraints(pattern=r"^\d{1,4}%?$")]
TaintText = Annotated[str, StringConstraints(pattern=r"^[^=:\s]+(=[^:\s]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$")]
Zone = Annotated[str, StringConstraints(pattern=r"^[1-9]$")]
Cidr = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F.:]+/\d{1,3}$")]
Ip = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F.:]+$")]
ArmId = Annotated[str, StringConstraints(pattern=r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/.+$")]
Devices = Annotated[int, Field(ge=1, le=MAXIMUM_DEVICES)]
CelExpression = Annotated[str, StringConstraints(pattern=r"\S")]


class Part(BaseModel):
    """A part of the configuration: camelCase keys, no unknown ones, no silent conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True)


class Doc(NamedTuple):
    """What the table in the docs says about a key."""

    text: str
    source: str
