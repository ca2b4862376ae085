"""Labels, taints, tolerations and node selection, with the semantics of the Kubernetes scheduler.

Source: kubernetes.io, "Assigning Pods to Nodes" and "Taints and Tolerations".
"""

from typing import Literal

from pydantic import Field

from aksgpu.facts.base import Facts
from aksgpu.facts.truth import Maybe

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


class Taint(Facts):
    """A taint of a node pool."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class Toleration(Facts):
    """A toleration of a pod; an empty key with Exists tolerates everything, an empty effect every effect."""

    key: str = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = ""
    effect: str = ""
    seconds: Maybe[int] = None
    """How long a NoExecute taint is tolerated; None is for ever."""

    def tolerates(self, taint: Taint) -> bool:
        """Tell whether a pod with this toleration may run beside `taint`."""
        if self.effect and self.effect != taint.effect:
            return False
        if not self.key:
            return self.operator == "Exists"
        if self.key != taint.key:
            return False
        return self.operator == "Exists" or self.value == taint.value


class Requirement(Facts):
    """One expression of a node selector term."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()


class Selection(Facts):
    """Which nodes a pod may run on: all of `labels`, and one of `terms` when there are any."""

    labels: dict[str, str] = Field(default_factory=dict)
    """`spec.nodeSelector`."""
    terms: tuple[tuple[Requirement, ...], ...] = ()
    """Required node affinity: a disjunction of conjunctions."""
