"""Create, read, update and delete a resource, in the order of the real provider's calls to Azure."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from twin.azure_native import bodies, catalog, diff, ids
from twin.azure_native.arm_client import (
    AzureError,
    Deadline,
    InterruptedByEngineError,
    OperationFailedError,
)
from twin.azure_native.metadata import Metadata
from twin.azure_native.settings import Settings
from twin.azure_native.shapes import Shape
from twin.azure_native.tokens import Token
from twin.azure_native.values import Values
from twin.errors import TwinError

DEFAULT_TIMEOUT = 7200.0
"""Seconds an operation may take when the resource has no custom timeout (the real provider's two hours)."""
_CHECKPOINT_TIMEOUT = 10.0
_GROUP_API_VERSION = "2020-10-01"

Report = Callable[[str], None]


@dataclass(frozen=True)
class Kind:
    """A resource type at an API version."""

    resource: catalog.Resource
    shape: Shape
    api_version: str

    def version_for(self, inputs: Values) -> str:
        """The api-version of requests: the generic resource's program chooses it."""
        chosen = inputs.get("apiVersion") if self.resource.user_version else None
        return str(chosen) if chosen else self.api_version


@dataclass
class PartialError(Exception):
    """Azure has the resource, but its operation did not succeed; the engine keeps the state and tries again."""

    id: str
    state: Values
    inputs: Values
    reason: str


@dataclass(frozen=True)
class Live:
    """A resource as it is in Azure."""

    state: Values
    inputs: Values


class Operations:
    """The operations of one configured provider."""

    def __init__(self, settings: Settings, metadata: Metadata, cancelled: threading.Event) -> None:
        self._settings = settings
        self._metadata = metadata
        self._cancelled = cancelled
        self._kinds: dict[Token, Kind] = {}
        self._group_locations: dict[str, str] = {}

    def kind(self, token: Token, written: str) -> Kind:
        """Return what a token means; raises TwinError, naming it as `written`, when the twin doesn't know it."""
        if token not in self._kinds:
            resource = catalog.resource(token, written)
            version = self._metadata.api_version(token, written)
            self._kinds[token] = Kind(resource, self._metadata.shape(token, written), version)
        return self._kinds[token]

    def deadline(self, timeout: float) -> Deadline:
        """Return when an operation with this custom timeout (seconds, 0 for none) has to end."""
        return Deadline(self._cancelled, timeout or DEFAULT_TIMEOUT)

    def group_location(self, name: str) -> str | None:
        """Return the region of a resource group, None when there is no such group. Asks Azure once for each."""
        if name not in self._group_locations:
            path = f"/subscriptions/{self._settings.subscription}/resourceGroups/{quote(name)}"
            try:
                group = self._settings.client.get(path, _GROUP_API_VERSION, self.deadline(0))
            except AzureError:
                return None
            if not group or "location" not in group:
                return None
            self._group_locations[name] = group["location"]
        return self._group_locations[name]

    def create(self, kind: Kind, inputs: Values, timeout: float, report: Report) -> tuple[str, Values]:
        """Create a resource; returns id and state. Refuses one that exists."""
        path = ids.resource_id(kind.resource, inputs, self._settings.subscription)
        deadline = self.deadline(timeout)
        if self._settings.client.exists(path, kind.version_for(inputs), deadline):
            raise TwinError(f"cannot create already existing resource '{path}'")
        return self._put(kind, path, inputs, deadline, report)

    def update(self, kind: Kind, id_: str, inputs: Values, timeout: float, report: Report) -> Values:
        """Send the whole resource again; returns the new state."""
        return self._put(kind, id_, inputs, self.deadline(timeout), report)[1]

    def delete(self, kind: Kind, id_: str, inputs: Values, timeout: float, report: Report) -> None:
        """Delete a resource; one that is gone already is a success."""
        self._settings.client.delete(id_, kind.version_for(inputs), self.deadline(timeout), report)

    def read(self, kind: Kind, id_: str, inputs: Values | None, state: Values) -> Live | None:
        """Read a resource; None when it is gone.

        With former inputs (a refresh), those are kept and only what changed in Azure since `state` is brought
        into them. Without (an import), all of them are taken from Azure and the id.
        """
        # An import of the generic resource asks with the api-version of Microsoft.Resources, as the real one does.
        body = self._settings.client.get(id_, kind.version_for(inputs or {}), self.deadline(0))
        if body is None:
            return None
        after = bodies.outputs(kind.shape, body)
        if inputs is None:
            known = bodies.projected_inputs(kind.shape, after)
            return Live(_state(kind, after), ids.inputs_of_id(kind.resource, id_) | known)
        before = bodies.projected_inputs(kind.shape, state)
        drifted = diff.apply(inputs, before, bodies.projected_inputs(kind.shape, after))
        return Live(_state(kind, after), drifted)

    def preview_update(self, kind: Kind, inputs: Values, state: Values) -> Values:
        """Return what a preview can tell of an update: name and location never change."""
        stable = {name: state[name] for name in ("name", "location") if name in state}
        return self.preview_create(kind, inputs) | stable

    def preview_create(self, kind: Kind, inputs: Values) -> Values:
        """Return what a preview can tell of a resource that doesn't exist yet."""
        return bodies.preview_outputs(kind.shape, inputs) | {"azureApiVersion": kind.api_version}

    def _put(self, kind: Kind, path: str, inputs: Values, deadline: Deadline, report: Report) -> tuple[str, Values]:
        client, version = self._settings.client, kind.version_for(inputs)
        try:
            body = client.put(path, version, bodies.request_body(kind.shape, inputs), deadline, report)
        except OperationFailedError as error:
            raise self._partial(kind, path, inputs, str(error)) from error
        return str(body.get("id", path)), _state(kind, bodies.outputs(kind.shape, body))

    def _partial(self, kind: Kind, path: str, inputs: Values, reason: str) -> PartialError:
        """Say that the operation failed, with what Azure has by now."""
        # A cancelled plugin has a moment left to look, so that the state is as complete as it can be.
        last_look = Deadline(threading.Event(), _CHECKPOINT_TIMEOUT)
        try:
            body = self._settings.client.get(path, kind.version_for(inputs), last_look)
        except (AzureError, InterruptedByEngineError, TwinError):
            body = None
        outputs = bodies.outputs(kind.shape, body) if body else {}
        id_ = str((body or {}).get("id", path))
        return PartialError(id_, _state(kind, outputs), inputs, reason)


def _state(kind: Kind, outputs: Values) -> Values:
    return outputs | {"azureApiVersion": kind.api_version}
