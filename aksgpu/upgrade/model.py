"""An upgrade plan. It never changes, and it is JSON with `version: 1`."""

from datetime import date
from typing import Literal

from pydantic import Field, computed_field

from aksgpu.facts.base import Facts

CONTROL_PLANE = "control plane"
"""How the control plane is called among the things that move."""


class Duration(Facts):
    """Minutes, from when all goes well to when every drain takes as long as it may."""

    low: int
    high: int

    def __add__(self, other: "Duration") -> "Duration":
        return Duration(low=self.low + other.low, high=self.high + other.high)


class Extra(Facts):
    """What a step needs beside what runs: surge nodes and their cores."""

    nodes: int
    cores: int | None
    """vCPUs of the quota; None when the VM size is not known."""
    family: str | None = None
    """Quota family, when known."""
    vm_size: str


class Move(Facts):
    """A control plane or a pool that goes from one version to another."""

    what: str
    """`control plane`, or the name of a pool."""
    before: str = Field(serialization_alias="from")
    after: str = Field(serialization_alias="to")


class Step(Facts):
    """One operation of Azure."""

    number: int
    kind: Literal["control-plane", "node-pool", "cluster"]
    """`cluster`: the control plane and all pools in one request."""
    moves: tuple[Move, ...]
    brings: tuple[str, ...] = ()
    minutes: Duration
    extra: tuple[Extra, ...] = ()
    command: str
    """The same step with the Azure CLI."""


class Refusal(Facts):
    """Why there is no plan, and what can be done about it."""

    reason: str
    way_out: str


class PoolNow(Facts):
    """A pool as it is before the plan."""

    name: str
    version: str
    mode: str
    count: int
    vm_size: str


class Plan(Facts):
    """The way of a cluster to a version: steps in order, none when it is there, or the refusal."""

    version: Literal[1] = 1
    cluster: str
    resource_group: str
    subscription: str
    location: str
    today: date
    support_plan: str
    channel: str
    control_plane: str
    pools: tuple[PoolNow, ...]
    target: str
    """What was asked for: a minor or a patch version."""
    supported_until: date | None = None
    """Last day of support for the target under the cluster's support plan; None when not known."""
    steps: tuple[Step, ...] = ()
    refusal: Refusal | None = None
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @computed_field
    @property
    def minutes(self) -> Duration:
        """The whole plan, one step after the other."""
        return sum((step.minutes for step in self.steps), start=Duration(low=0, high=0))
