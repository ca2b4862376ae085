"""ARM ids: made from inputs, and read back into inputs when a resource is imported."""

import re
from urllib.parse import quote, unquote

from twin.azure_native.catalog import Resource
from twin.azure_native.values import UNKNOWN, Values
from twin.errors import TwinError


def resource_id(resource: Resource, inputs: Values, subscription: str) -> str:
    """Return the id; raises TwinError when a part of it is missing, unknown or not a string."""
    parts = {"subscriptionId": quote(subscription, safe="")}
    for name in resource.parameters:
        value = inputs.get(name)
        if value is UNKNOWN or not isinstance(value, str):
            raise TwinError(f"The input '{name}' must be a known string to address the resource in Azure.")
        # Parents and namespaces of the generic resource are sub-paths: "managedClusters/c".
        parts[name] = quote(value.strip("/"), safe="/") if _is_path(name) else quote(value, safe="")
    filled = resource.path.format(**parts)
    return re.sub(r"/{2,}", "/", filled)


def inputs_of_id(resource: Resource, id_: str) -> Values:
    """Return the inputs that an id holds; raises TwinError when the id is not one of this resource."""
    match = _pattern(resource).fullmatch(id_)
    if match is None:
        raise TwinError(
            f"'{id_}' is not the id of such a resource. It must look like {resource.path}; get the id of an "
            "existing resource with `az resource show --query id`."
        )
    return {name: unquote(match[name] or "") for name in resource.parameters}


def _is_path(name: str) -> bool:
    return name in {"parentResourcePath", "resourceProviderNamespace", "resourceType"}


def _pattern(resource: Resource) -> re.Pattern[str]:
    """Build the pattern of ids; the case of fixed parts doesn't matter to Azure."""
    pattern = ""
    for part in resource.path.strip("/").split("/"):
        if part == "{parentResourcePath}":
            pattern += r"(?:/(?P<parentResourcePath>.*?))??"
        elif part.startswith("{"):
            pattern += f"/(?P<{part[1:-1]}>[^/]+)"
        else:
            pattern += f"/{re.escape(part)}"
    return re.compile(pattern, re.IGNORECASE)
