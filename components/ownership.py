"""Whose Kubernetes object is it? A mark on every object that this project makes, and the check that goes with it.

Server-side apply takes over an existing object silently when the wanted fields are equal or free, and `destroy`
then deletes it. So every object carries the annotation `aksgpu.dev/stack`, and before one is registered the
object of that name is read: it has to be absent or carry the mark of this very stack. Because the mark is on the
object and not in the state, an object made by an update that was killed before it could save its state is still
recognised. See docs/decisions/0010-ownership-mark.md.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.meta.v1 import ObjectMetaArgsDict

from components import live

MARK = "aksgpu.dev/stack"
"""Annotation: `organization/project/stack` of the stack that owns the object."""

FORCE = "pulumi.com/patchForce"
"""Annotation: the Kubernetes provider takes fields over from other managers instead of failing with a conflict."""

DRA_GROUP = "resource.k8s.io"
DRA_VERSION = "v1"


@dataclass(frozen=True)
class Kind:
    """A kind of object, and where the API has it."""

    name: str
    api: str
    """`/api/v1` or `/apis/GROUP/VERSION`."""
    plural: str

    def path(self, namespace: str | None, name: str) -> str:
        """Return the path of one object."""
        scope = f"/namespaces/{namespace}" if namespace is not None else ""
        return f"{self.api}{scope}/{self.plural}/{name}"


NAMESPACE = Kind("Namespace", "/api/v1", "namespaces")
POLICY = Kind("ValidatingAdmissionPolicy", "/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicies")
BINDING = Kind(
    "ValidatingAdmissionPolicyBinding", "/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings"
)
JOB = Kind("Job", "/apis/batch/v1", "jobs")
DEVICE_CLASS = Kind("DeviceClass", f"/apis/{DRA_GROUP}/{DRA_VERSION}", "deviceclasses")
RESOURCE_CLAIM = Kind("ResourceClaim", f"/apis/{DRA_GROUP}/{DRA_VERSION}", "resourceclaims")
RESOURCE_CLAIM_TEMPLATE = Kind("ResourceClaimTemplate", f"/apis/{DRA_GROUP}/{DRA_VERSION}", "resourceclaimtemplates")


def this_stack() -> str:
    """Return `organization/project/stack`, which is how an object says who owns it."""
    return f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"


def marked(
    kind: Kind,
    name: str,
    kubeconfig: pulumi.Input[str] | None,
    namespace: pulumi.Input[str] | None = None,
    annotations: Mapping[str, str] | None = None,
    look: Callable[[Mapping[str, Any]], Awaitable[None]] | None = None,
) -> ObjectMetaArgsDict:
    """Return the metadata of an object of ours. Its mark is known once the object is found absent or ours.

    Only the mark waits for the cluster, so that a preview still shows (and policies still see) the rest. `look` is
    shown the object as it is, when it is there and ours.
    """

    async def check(known: dict[str, Any]) -> str:
        await _served(kind, known["kubeconfig"])
        found = await live.ask(live.kube(known["kubeconfig"]).get, kind.path(known["namespace"], name))
        if found is not None and _annotations(found).get(MARK) != this_stack():
            raise live.RefusedError(_foreign(kind, name, found))
        if found is not None and look is not None:
            await look(found)
        return this_stack()

    checked: pulumi.Output[str] = pulumi.Output.all(kubeconfig=kubeconfig, namespace=namespace).apply(check)
    # The kubeconfig is secret; whose the object is, is not.
    mark = pulumi.Output.unsecret(checked)
    # Whose the object is has been checked, so fields that another manager wrote before it was handed over are ours too.
    metadata: ObjectMetaArgsDict = {"name": name, "annotations": {MARK: mark, FORCE: "true", **(annotations or {})}}
    if namespace is not None:
        metadata["namespace"] = namespace
    return metadata


async def _served(kind: Kind, kubeconfig: str | None) -> None:
    """Refuse a cluster that doesn't serve dynamic resource allocation at the version we write."""
    if DRA_GROUP not in kind.api:
        return
    versions = await live.ask(live.kube(kubeconfig).api_versions, DRA_GROUP)
    if DRA_VERSION not in versions:
        serves = f"serves it only as {', '.join(versions)}" if versions else "does not serve that group at all"
        raise live.RefusedError(
            f"A {kind.name} needs the API {DRA_GROUP}/{DRA_VERSION}, and the cluster {serves}. Managed DRA pools need "
            "Kubernetes 1.35 or later: upgrade the cluster (`aksgpu upgrade plan`)."
        )


def _annotations(found: Mapping[str, Any]) -> dict[str, str]:
    return found["metadata"].get("annotations") or {}


def _foreign(kind: Kind, name: str, found: Mapping[str, Any]) -> str:
    namespace = found["metadata"].get("namespace")
    at = f" in the namespace {namespace}" if namespace else ""
    scope = f" -n {namespace}" if namespace else ""
    return (
        f"The {kind.name} {name}{at} exists and does not belong to this stack ({this_stack()}). Owner: {owner(found)}."
        f"{_selectors(found)} It was left as it is. Choose another name, or hand it to this stack, which will then "
        f"change and one day delete it: kubectl annotate --overwrite {kind.name.lower()} {name}{scope} "
        f"{MARK}={this_stack()}"
    )


def owner(found: Mapping[str, Any]) -> str:
    """Say what an object tells about its owner: the stack in its mark, who manages it, who wrote its fields."""
    metadata = found["metadata"]
    told = []
    if MARK in _annotations(found):
        told.append(f"the stack {_annotations(found)[MARK]}")
    managed_by = (metadata.get("labels") or {}).get("app.kubernetes.io/managed-by")
    if managed_by:
        told.append(f"managed by {managed_by}")
    managers = sorted({field["manager"] for field in metadata.get("managedFields") or [] if "manager" in field})
    if managers:
        told.append(f"last written by {', '.join(managers)}")
    return "; ".join(told) or "unknown"


def _selectors(found: Mapping[str, Any]) -> str:
    selectors = (found.get("spec") or {}).get("selectors") or []
    expressions = [selector["cel"]["expression"] for selector in selectors if "cel" in selector]
    return f" Selectors: {' and '.join(expressions)}." if expressions else ""
