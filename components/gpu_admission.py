"""The component GpuAdmission."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aksgpu.reporters import admission
from aksgpu.rules.book import BOOK
from aksgpu.rules.gpu_pools import has_gpus
from aksgpu.rules.model import Rule
from components import live, ownership, pool_properties
from components.kubernetes_object import KubernetesObject

MODES: tuple[admission.Mode, ...] = ("enforce", "warn")
RULES = tuple(rule for rule in BOOK if "admission" in rule.prevents)


class AdmissionPool(TypedDict):
    """A pool as far as policies ask about it; give it what its NodePool is given."""

    name: str
    """Name of the pool."""
    kind: NotRequired[str]
    """Kind of the pool, `managed-dra` if left out."""
    vm_size: str
    """VM size of the nodes."""
    taints: NotRequired[list[str]]
    """Taints of the nodes. Left out: `sku=gpu:NoSchedule` on pools with GPUs; an empty list means none."""
    labels: NotRequired[dict[str, str]]
    """Labels of the nodes."""
    spot: NotRequired[bool]
    """Spot machines; AKS taints their nodes."""


class GpuAdmissionArgs(TypedDict):
    """What a GpuAdmission takes."""

    mode: NotRequired[str]
    """`enforce` (if left out): what breaks a rule of severity error is refused, other rules warn. `warn`: all warn."""
    pools: NotRequired[list[AdmissionPool]]
    """The node pools of the cluster. What is said about pools that aren't here is admitted."""
    prefix: NotRequired[str]
    """What the names of all objects start with, `aksgpu` if left out. Two stacks in one cluster need two."""
    kubeconfig: NotRequired[pulumi.Input[str]]
    """Kubeconfig for the live checks: that of the Kubernetes provider in use. If left out, the ambient one."""


class GpuAdmission(pulumi.ComponentResource):
    """Admission policies made from the rule book: the API server itself refuses what breaks a rule.

    A policy can't look up nodes, so those that ask about pools hold them; each update brings them up to date.
    """

    policy_names: pulumi.Output[list[str]]
    """The names of the policies, known once all of them are in the cluster."""

    def __init__(self, name: str, args: GpuAdmissionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:GpuAdmission", name, {}, opts)
        self._name, self._kubeconfig = name, args.get("kubeconfig")
        names = admission.Names(args.get("prefix", "aksgpu"))
        # Checks are outputs: what a constructor raises reaches programs in other languages with a traceback.
        mode = pulumi.Output.from_input(args.get("mode", "enforce")).apply(_mode)
        pools = pulumi.Output.from_input(args.get("pools", [])).apply(_pools)
        bindings = [self._rule(rule, names, mode, pools) for rule in RULES]
        self.policy_names = pulumi.Output.all(*(item.urn for item in bindings)).apply(
            lambda _: [names.policy(rule) for rule in RULES]
        )
        self.register_outputs({"policyNames": self.policy_names})

    def _rule(
        self,
        rule: Rule,
        names: admission.Names,
        mode: pulumi.Output[admission.Mode],
        pools: pulumi.Output[list[dict[str, Any]]],
    ) -> pulumi.Resource:
        """Create a policy, then its binding; a deletion goes the other way."""
        asked = pools.apply(lambda known: admission.policy(rule, known, names)["spec"])
        policy = self._object(ownership.POLICY, {**admission.policy(rule, [], names), "spec": asked}, [])
        bound = mode.apply(lambda chosen: admission.binding(rule, chosen, names)["spec"])
        return self._object(ownership.BINDING, {**admission.binding(rule, "enforce", names), "spec": bound}, [policy])

    def _object(self, kind: ownership.Kind, manifest: dict[str, Any], after: list[pulumi.Resource]) -> pulumi.Resource:
        name = manifest["metadata"]["name"]
        marked = ownership.marked(kind, name, self._kubeconfig)
        return KubernetesObject(
            f"{self._name}-{name}",
            {**manifest, "metadata": marked},
            pulumi.ResourceOptions(parent=self, depends_on=after),
        )


def _mode(given: str) -> admission.Mode:
    for mode in MODES:
        if mode == given:
            return mode
    raise live.RefusedError(f"GpuAdmission has no mode '{given}'. Modes: {', '.join(MODES)}.")


def _pools(given: list[AdmissionPool]) -> list[dict[str, Any]]:
    facts = [pool_properties.facts(pool["name"], pool) for pool in given]
    return admission.pool_data(pool for pool in facts if has_gpus(pool) is not False)
