"""Subscriptions, locations and resource groups."""

from typing import Any

from twin.account import TENANT
from twin.arm import guards
from twin.arm.azure import Azure
from twin.arm.compute import known_location
from twin.arm.errors import ArmError
from twin.arm.http import Reply, Request
from twin.arm.operations import started
from twin.arm.service import GROUPS, Document
from twin.arm.settings import LOCATIONS


def check_subscription(azure: Azure, id_: str) -> None:
    """Raise ArmError (404) when there is no such subscription."""
    if id_.lower() not in azure.service.settings.subscriptions:
        raise ArmError(404, "SubscriptionNotFound", f"The subscription '{id_}' could not be found.")


def _subscription(id_: str, name: str) -> dict[str, Any]:
    policies = {"locationPlacementId": "Public_2014-09-01", "quotaId": "PayAsYouGo_2014-09-01", "spendingLimit": "Off"}
    return {
        "id": f"/subscriptions/{id_}",
        "subscriptionId": id_,
        "displayName": name,
        "state": "Enabled",
        "tenantId": TENANT,
        "authorizationSource": "RoleBased",
        "subscriptionPolicies": policies,
    }


def get_subscription(azure: Azure, request: Request) -> Reply:
    """GET /subscriptions/{subscription}."""
    id_ = request.subscription.lower()
    return Reply(_subscription(id_, azure.service.settings.subscriptions[id_]))


def list_subscriptions(azure: Azure, _request: Request) -> Reply:
    """GET /subscriptions."""
    return Reply({"value": [_subscription(*row) for row in azure.service.settings.subscriptions.items()]})


def list_tenants(_azure: Azure, _request: Request) -> Reply:
    """GET /tenants."""
    return Reply({"value": [{"id": f"/tenants/{TENANT}", "tenantId": TENANT, "displayName": "twin"}]})


def list_locations(_azure: Azure, request: Request) -> Reply:
    """GET /subscriptions/{subscription}/locations."""
    rows = [
        {
            "id": f"/subscriptions/{request.subscription}/locations/{name}",
            "subscriptionId": request.subscription,
            "name": name,
            "displayName": text,
        }
        for name, text in LOCATIONS.items()
    ]
    return Reply({"value": rows})


def put_group(azure: Azure, request: Request) -> Reply:
    """PUT …/resourceGroups/{group}."""
    body = request.object()
    unknown = set(body) - {"id", "name", "type", "location", "tags", "properties", "managedBy"}
    if unknown:
        raise ArmError(
            400,
            "InvalidRequestContent",
            f"The request content was invalid: could not find member '{min(unknown)}' on object of type "
            "'ResourceGroupDefinition'.",
        )
    with azure.service.store.transaction():
        old = azure.service.store.get(request.group_id)
        if "location" not in body:
            raise ArmError(400, "LocationRequired", "The location property is required for this definition.")
        location = known_location(body["location"])
        if old and old["location"] != location:
            raise ArmError(
                409,
                "InvalidResourceGroupLocation",
                f"Invalid resource group location '{location}'. The Resource group already exists in location "
                f"'{old['location']}'.",
            )
        group = {
            "id": old["id"] if old else request.group_id,
            "name": old["name"] if old else request.args["group"],
            "type": "Microsoft.Resources/resourceGroups",
            "location": location,
            "tags": body.get("tags") or {},
            "properties": {"provisioningState": "Succeeded"},
            "twin": {"kind": GROUPS, "parent": f"/subscriptions/{request.subscription}"},
        }
        azure.service.store.put(GROUPS, group, group["twin"]["parent"])
    return Reply(_group(group), 200 if old else 201)


def patch_group(azure: Azure, request: Request) -> Reply:
    """PATCH …/resourceGroups/{group}: tags."""
    body = request.object()
    with azure.service.store.transaction():
        group = guards.group(azure.service, request)
        group["tags"] = body.get("tags", group["tags"])
        azure.service.store.put(GROUPS, group, group["twin"]["parent"])
    return Reply(_group(group))


def _group(group: Document) -> dict[str, Any]:
    return {key: value for key, value in group.items() if key != "twin"}


def get_group(azure: Azure, request: Request) -> Reply:
    """GET …/resourceGroups/{group}."""
    return Reply(_group(guards.group(azure.service, request)))


def head_group(azure: Azure, request: Request) -> Reply:
    """HEAD …/resourceGroups/{group}: 204 when it exists, else 404."""
    return Reply(status=204 if azure.service.store.get(request.group_id) else 404)


def list_groups(azure: Azure, request: Request) -> Reply:
    """GET …/resourceGroups."""
    found = azure.service.store.resources(GROUPS, f"/subscriptions/{request.subscription}")
    return Reply({"value": [_group(group) for group in found]})


def delete_group(azure: Azure, request: Request) -> Reply:
    """DELETE …/resourceGroups/{group}: deletes the clusters in it, too."""
    group = guards.group(azure.service, request)
    running = azure.operations.running_on(group["id"])
    deleting = [operation for operation in running if operation["kind"] == "delete-group"]
    if deleting:
        return started(request, azure.service, deleting[0], None, 202)
    azure.operations.abort(running)
    with azure.service.store.transaction():
        group["properties"]["provisioningState"] = "Deleting"
        azure.service.store.put(GROUPS, group, group["twin"]["parent"])
        operation = azure.operations.accept("delete-group", "Deleting", group["id"], group["location"])
    azure.operations.begin(operation)
    return started(request, azure.service, operation, None, 202)
