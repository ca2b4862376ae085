"""Kubeconfigs of a managed cluster."""

import base64
from typing import Literal

from twin.arm import guards
from twin.arm.azure import Azure
from twin.arm.errors import ArmError
from twin.arm.http import Reply, Request
from twin.arm.service import Document


def admin_credential(azure: Azure, request: Request) -> Reply:
    """POST …/listClusterAdminCredential."""
    cluster = guards.cluster(azure.service, request)
    if cluster["properties"].get("disableLocalAccounts"):
        raise ArmError(
            400,
            "BadRequest",
            "Getting static credential is not allowed because this cluster is set to disable local accounts.",
        )
    return _credential(azure, cluster, "admin")


def user_credential(azure: Azure, request: Request) -> Reply:
    """POST …/listClusterUserCredential."""
    return _credential(azure, guards.cluster(azure.service, request), "user")


def _credential(azure: Azure, cluster: Document, user: Literal["admin", "user"]) -> Reply:
    if cluster["properties"]["provisioningState"] == "Creating":
        guards.nothing_in_progress(azure.operations.running_on(cluster["id"]), cluster["id"])
    text = azure.service.backend.kubeconfig(cluster["id"].lower(), user)
    name = "clusterAdmin" if user == "admin" else "clusterUser"
    return Reply({"kubeconfigs": [{"name": name, "value": base64.b64encode(text.encode()).decode()}]})
