"""The functions of the package: reading resources, listing credentials, and who the client is."""

from twin.account import TENANT
from twin.azure_native import bodies, catalog, ids, tokens
from twin.azure_native.metadata import Metadata
from twin.azure_native.operations import Kind, Operations
from twin.azure_native.settings import Settings
from twin.azure_native.values import Values, has_unknowns
from twin.errors import TwinError

_NOBODY = "00000000-0000-0000-0000-000000000000"
"""The twin has no identities: object and client id of whoever runs the program."""


class Invokes:
    """The functions of one configured provider."""

    def __init__(self, settings: Settings, metadata: Metadata, operations: Operations) -> None:
        self._settings = settings
        self._metadata = metadata
        self._operations = operations

    def call(self, written: str, arguments: Values) -> Values:
        """Call the function of a token; raises TwinError, naming it, when the twin doesn't know it."""
        token = tokens.parse(written)
        if has_unknowns(arguments):
            raise TwinError(f"The function {written} was called with arguments that are not known yet.")
        if token.kind == "authorization:getClientConfig":
            return self._client_config()
        if token.kind == "authorization:getClientToken":
            return {"token": self._settings.client.token}
        function = catalog.function(token, written)
        return self._list(token, written, arguments) if function.action else self._get(token, written, arguments)

    def _get(self, token: tokens.Token, written: str, arguments: Values) -> Values:
        kind, path = self._resource(token, written, arguments)
        body = self._settings.client.get(path, kind.version_for(arguments), self._operations.deadline(0))
        if body is None:
            raise TwinError(f"request failed {path}: there is no such resource (Status=404 Code='ResourceNotFound')")
        known = bodies.outputs(kind.shape, body)
        return known | {"id": body.get("id", path), "azureApiVersion": kind.api_version}

    def _list(self, token: tokens.Token, written: str, arguments: Values) -> Values:
        function = catalog.function(token, written)
        kind, path = self._resource(token, written, arguments)
        query = {wire: str(arguments[name]) for name, wire in function.query.items() if name in arguments}
        body = self._settings.client.post(
            f"{path}/{function.action}",
            {"api-version": kind.api_version, **query},
            self._operations.deadline(0),
        )
        return bodies.outputs(self._metadata.result(token), body)

    def _resource(self, token: tokens.Token, written: str, arguments: Values) -> tuple[Kind, str]:
        module, name = catalog.function(token, written).resource.split(":")
        kind = self._operations.kind(tokens.Token(module, name, token.version), written)
        return kind, ids.resource_id(kind.resource, arguments, self._settings.subscription)

    def _client_config(self) -> Values:
        # The real one looks into its credentials and asks nobody.
        return {
            "clientId": _NOBODY,
            "objectId": _NOBODY,
            "subscriptionId": self._settings.subscription,
            "tenantId": TENANT,
        }
