"""Calls to Azure Resource Manager: authentication, retries, long-running operations.

Behaves like the Azure SDK for Go under the real provider: the same status codes are retried, `Retry-After` is
honoured, and a long-running operation is followed by its `Azure-AsyncOperation` or `Location` header, or else by
the resource's own `provisioningState`. Only the waiting times are shorter.
"""

import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpx2

from twin.errors import TwinError

_RETRIED = frozenset({408, 429, 500, 502, 503, 504})
_RETRIES = 3
_BACKOFF = 1.0
"""Seconds before the first retry without Retry-After; doubled for each further one."""
_POLL = 1.0
"""Seconds between looks at a long-running operation without Retry-After."""
_REQUEST_TIMEOUT = 100.0
_DONE = frozenset({"succeeded", "failed", "canceled"})

Report = Callable[[str], None]


@dataclass
class AzureError(Exception):
    """Azure refused a request or an operation failed; str() is the real provider's text."""

    status: int
    code: str
    message: str

    def __str__(self) -> str:
        code = f'Code="{self.code}" ' if self.code else ""
        return f'Status={self.status} {code}Message="{self.message}"'

    @classmethod
    def of(cls, response: httpx2.Response) -> "AzureError":
        """Take code and message out of an answer of any shape."""
        body = _json(response)
        error = body.get("error")
        if not isinstance(error, Mapping):
            return cls(response.status_code, str(body.get("code", "")), response.text)
        return cls(response.status_code, str(error.get("code", "")), str(error.get("message", response.text)))


class InterruptedByEngineError(Exception):
    """The engine cancelled, or the resource's own timeout ran out; the operation goes on in Azure."""


class OperationFailedError(Exception):
    """The resource was accepted, then its operation failed or could not be followed to its end."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))


class Deadline:
    """When to give up: at cancellation, or when the time of the resource is over."""

    def __init__(self, cancelled: threading.Event, seconds: float) -> None:
        self._cancelled = cancelled
        self._end = time.monotonic() + seconds
        self._seconds = seconds

    def check(self) -> None:
        """Raise InterruptedByEngineError when it is time to give up."""
        if self._cancelled.is_set():
            raise InterruptedByEngineError("the update was cancelled before Azure was done")
        if time.monotonic() > self._end:
            raise InterruptedByEngineError(
                f"Azure was not done after the resource's timeout of {self._seconds:.0f} seconds"
            )

    def wait(self, seconds: float) -> None:
        """Sleep, but wake up to raise InterruptedByEngineError."""
        self._cancelled.wait(max(0.0, min(seconds, self._end - time.monotonic() + 0.01)))
        self.check()


class ArmClient:
    """One connection to the Azure endpoint; safe to use from several threads."""

    def __init__(self, endpoint: str, token: str, verify: ssl.SSLContext | bool) -> None:
        self.token = token
        self._http = httpx2.Client(
            base_url=endpoint,
            verify=verify,
            timeout=_REQUEST_TIMEOUT,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            trust_env=False,
        )

    def get(self, path: str, api_version: str, deadline: Deadline) -> dict[str, Any] | None:
        """Read a resource; None when there is none (404)."""
        response = self._send("GET", path, {"api-version": api_version}, None, deadline)
        if response.status_code == 404:
            return None
        if response.status_code != 200:
            raise AzureError.of(response)
        return _json(response)

    def post(self, path: str, query: Mapping[str, str], deadline: Deadline) -> dict[str, Any]:
        """Call an action and return its answer."""
        response = self._send("POST", path, query, {}, deadline)
        if response.status_code not in (200, 201):
            raise AzureError.of(response)
        return _json(response)

    def exists(self, path: str, api_version: str, deadline: Deadline) -> bool:
        """Say whether something answers at the path; an empty answer is none, as for the real provider."""
        response = self._send("GET", path, {"api-version": api_version}, None, deadline)
        if response.status_code in (204, 404):
            return False
        if response.status_code == 200:
            return bool(_json(response))
        raise TwinError(
            f"cannot check existence of resource '{path}': status code {response.status_code}, {response.text}"
        )

    def put(
        self, path: str, api_version: str, body: Mapping[str, Any], deadline: Deadline, report: Report
    ) -> dict[str, Any]:
        """Create or update, and wait until Azure is done; returns the resource.

        Raises AzureError when the request is refused, OperationFailedError when it was accepted and failed later.
        """
        response = self._send("PUT", path, {"api-version": api_version}, body, deadline)
        if response.status_code not in (200, 201, 202):
            raise AzureError.of(response)
        try:
            return self._follow_put(response, path, api_version, deadline, report)
        except (AzureError, InterruptedByEngineError, TwinError) as reason:
            # Azure has the resource by now: whatever goes wrong, its state must not be lost.
            raise OperationFailedError(reason) from reason

    def delete(self, path: str, api_version: str, deadline: Deadline, report: Report) -> None:
        """Delete, and wait until the resource is gone; one that isn't there is a success."""
        response = self._send("DELETE", path, {"api-version": api_version}, None, deadline)
        if response.status_code in (204, 404):
            return
        if response.status_code not in (200, 202):
            raise AzureError.of(response)
        try:
            self._follow_headers(response, deadline, report)
        except AzureError as error:
            if error.status != 404:
                raise

    def _follow_put(
        self, response: httpx2.Response, path: str, api_version: str, deadline: Deadline, report: Report
    ) -> dict[str, Any]:
        if not self._follow_headers(response, deadline, report):
            self._follow_state(response, path, api_version, deadline, report)
        # What a PUT answers may differ from what a later GET does, and a refresh would show that as drift.
        return self._read(path, api_version, deadline)

    def _follow_state(
        self, response: httpx2.Response, path: str, api_version: str, deadline: Deadline, report: Report
    ) -> None:
        body = _json(response)
        while not _is_final(body):
            report(_state(body))
            deadline.wait(_pause(response))
            body = self._read(path, api_version, deadline)
        if _state(body).lower() in ("failed", "canceled"):
            raise AzureError(200, _state(body), f"The resource ended in provisioning state '{_state(body)}'.")

    def _read(self, path: str, api_version: str, deadline: Deadline) -> dict[str, Any]:
        body = self.get(path, api_version, deadline)
        if body is None:
            raise AzureError(404, "ResourceNotFound", f"The resource '{path}' went away while it was being made.")
        return body

    def _follow_headers(self, response: httpx2.Response, deadline: Deadline, report: Report) -> bool:
        """Follow the operation that the headers name until it has succeeded; False when they name none."""
        operation = response.headers.get("Azure-AsyncOperation")
        location = response.headers.get("Location")
        if operation:
            self._follow_operation(operation, response, deadline, report)
        elif location and response.status_code == 202:
            self._follow_location(location, response, deadline, report)
        return bool(operation or (location and response.status_code == 202))

    def _follow_operation(self, url: str, response: httpx2.Response, deadline: Deadline, report: Report) -> None:
        while True:
            deadline.wait(_pause(response))
            response = self._send("GET", url, None, None, deadline)
            if response.status_code not in (200, 202):
                raise AzureError.of(response)
            body = _json(response)
            status = str(body.get("status", ""))
            if status.lower() == "succeeded":
                return
            if status.lower() in _DONE:
                raise AzureError.of(response)
            report(status or "InProgress")

    def _follow_location(self, url: str, response: httpx2.Response, deadline: Deadline, report: Report) -> None:
        while response.status_code == 202:
            deadline.wait(_pause(response))
            response = self._send("GET", url, None, None, deadline)
            report("InProgress")
        if response.status_code not in (200, 201, 204):
            raise AzureError.of(response)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        body: Mapping[str, Any] | None,
        deadline: Deadline,
    ) -> httpx2.Response:
        for attempt in range(_RETRIES + 1):
            deadline.check()
            try:
                response = self._http.request(method, path, params=query, json=body)
            except httpx2.TransportError as error:
                if attempt == _RETRIES:
                    raise TwinError(
                        f"The twin's Azure endpoint at {urljoin(str(self._http.base_url), '/')} does not answer "
                        f"({error}). See `aksgpu twin status`."
                    ) from error
                deadline.wait(_BACKOFF * 2**attempt)
                continue
            if not _is_retried(response) or attempt == _RETRIES:
                return response
            deadline.wait(_retry_after(response) or _BACKOFF * 2**attempt)
        raise AssertionError("the last attempt returns or raises")


def _is_retried(response: httpx2.Response) -> bool:
    if response.status_code == 409:
        return AzureError.of(response).code == "AnotherOperationInProgress"
    return response.status_code in _RETRIED


def _json(response: httpx2.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except json.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}


def _state(body: Mapping[str, Any]) -> str:
    properties = body.get("properties")
    return str(properties.get("provisioningState", "")) if isinstance(properties, Mapping) else ""


def _is_final(body: Mapping[str, Any]) -> bool:
    state = _state(body).lower()
    return not state or state in _DONE


def _retry_after(response: httpx2.Response) -> float:
    """Return the seconds Azure asks to wait, 0 when it doesn't; the header in milliseconds is the finer one."""
    for header, unit in (("x-ms-retry-after-ms", 0.001), ("Retry-After", 1.0)):
        try:
            return float(response.headers[header]) * unit
        except (KeyError, ValueError):
            continue
    return 0.0


def _pause(response: httpx2.Response) -> float:
    return _retry_after(response) or _POLL
