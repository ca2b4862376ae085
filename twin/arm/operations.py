"""Long-running operations: accepted, worked on by threads, resumed after a restart.

An operation only says what is to be done; the wanted state is in the stored resources, and the work brings
the cluster to it step by step. So an operation can be killed anywhere and started again.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from twin.arm.api_versions import CONTAINER_SERVICE, NEWEST
from twin.arm.errors import ArmError
from twin.arm.http import Reply, Request
from twin.arm.service import Document, Service, now
from twin.errors import TwinError

log = logging.getLogger(__name__)

_ABORT_SECONDS = 60

Operation = dict[str, Any]
"""`id`, `kind`, `state` (Creating, Updating, Scaling, Upgrading, Deleting), `target` (lower-cased ARM id),
`affects`, `status`, `startTime`, `endTime`, `error`, `subscription`, `location`."""


class Stopped(Exception):  # noqa: N818 - not an error: the twin is going down, the operation goes on next time
    """The twin is stopping."""


class Aborted(Exception):  # noqa: N818 - a request of the client, not an error
    """The operation was aborted or superseded."""


@dataclass
class Progress:
    """How the work of one operation watches for its end."""

    operation: Operation
    aborted: threading.Event
    stopping: threading.Event

    def check(self) -> None:
        """Raise when the work should not go on."""
        if self.stopping.is_set():
            raise Stopped
        if self.aborted.is_set():
            raise Aborted

    def wait(self, seconds: float) -> None:
        """Wait, but not longer than the work may go on."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.check()
            self.aborted.wait(min(left, 0.1))
        self.check()

    def until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Ask again and again, less and less often; False when `done` didn't come in time.

        An API server that is away or not yet itself is asked again, as any controller would.
        """
        deadline, pause = time.monotonic() + seconds, 0.02
        while not _answers(done):
            if time.monotonic() > deadline:
                return False
            self.wait(pause)
            pause = min(pause * 1.5, 0.5)
        return True


def _answers(done: Callable[[], bool]) -> bool:
    try:
        return done()
    except (httpx2.HTTPError, OSError):
        return False


class Operations:
    """Starts, resumes and ends long-running operations."""

    def __init__(self, service: Service, work: Callable[[Service, Progress], None]) -> None:
        self._service = service
        self._work = work
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._running: dict[str, tuple[threading.Thread, threading.Event]] = {}

    def accept(self, kind: str, state: str, target: str, location: str, affects: Sequence[str] = ()) -> Operation:
        """Store a new operation, inside the caller's transaction; `begin` starts it.

        `affects`: the resources whose provisioningState shows how it ended, beside the target.
        """
        operation: Operation = {
            "id": str(uuid.uuid4()),
            "kind": kind,
            "state": state,
            "target": target.lower(),
            "subscription": target.split("/")[2],
            "location": location,
            "status": "InProgress",
            "startTime": now(),
            "affects": [target.lower(), *(id_.lower() for id_ in affects)],
        }
        self._service.store.put_operation(operation)
        return operation

    def begin(self, operation: Operation) -> None:
        """Work on a stored operation in a thread of its own."""
        progress = Progress(operation, threading.Event(), self._stopping)
        thread = threading.Thread(target=self._run, args=(progress,), name=operation["id"], daemon=True)
        with self._lock:
            self._running[operation["id"]] = (thread, progress.aborted)
        thread.start()

    def resume(self) -> None:
        """Go on with everything that was in progress when the twin ended."""
        for operation in self._service.store.unfinished():
            self.begin(operation)

    def stop(self) -> None:
        """Stop all work where it is; it stays in progress."""
        self._stopping.set()
        with self._lock:
            threads = [thread for thread, _ in self._running.values()]
        for thread in threads:
            thread.join(timeout=10)

    def running_on(self, prefix: str) -> list[Operation]:
        """Return the operations in progress on a resource and on what is below it."""
        key = prefix.lower()
        return [
            operation
            for operation in self._service.store.unfinished()
            if operation["target"] == key or operation["target"].startswith(f"{key}/")
        ]

    def abort(self, operations: list[Operation]) -> None:
        """End operations as Canceled and wait until their work has stopped; ArmError (409) when it doesn't."""
        with self._lock:
            running = [self._running[op["id"]] for op in operations if op["id"] in self._running]
        for _, aborted in running:
            aborted.set()
        for thread, _ in running:
            if thread is not threading.current_thread():
                thread.join(timeout=_ABORT_SECONDS)
                if thread.is_alive():
                    text = "Another operation is in progress and could not be ended yet. Try again later."
                    raise ArmError(409, "OperationNotAllowed", text)

    def _run(self, progress: Progress) -> None:
        operation = progress.operation
        try:
            outcome = self._outcome(progress)
            if outcome:
                self._finish(operation, *outcome)
        except TwinError as error:
            # It stays in progress, and goes on when the twin starts again.
            log.error("The end of operation %s could not be stored: %s", operation["id"], error)  # noqa: TRY400
        finally:
            with self._lock:
                self._running.pop(operation["id"], None)

    def _outcome(self, progress: Progress) -> tuple[str, dict[str, Any] | None] | None:
        """Do the work; return status and error, None when the twin stops meanwhile."""
        operation = progress.operation
        try:
            self._work(self._service, progress)
        except Stopped:
            return None
        except Aborted:
            return "Canceled", None
        except ArmError as error:
            return "Failed", error.content()
        except TwinError as error:
            return "Failed", {"code": "InternalServerError", "message": str(error)}
        except Exception:
            log.exception("operation %s (%s) failed", operation["id"], operation["kind"])
            return "Failed", _internal(operation["id"])
        return "Succeeded", None

    def _finish(self, operation: Operation, status: str, error: dict[str, Any] | None) -> None:
        store = self._service.store
        with store.transaction():
            store.put_operation(operation | {"status": status, "endTime": now(), "error": error})
            for id_ in operation["affects"]:
                self._service.update(id_, lambda document: _ended(document, status))


def _ended(document: Document, status: str) -> None:
    document["properties"]["provisioningState"] = status


def _internal(id_: str) -> dict[str, Any]:
    return {"code": "InternalServerError", "message": f"Encountered an internal server error. Operation: {id_}."}


def started(request: Request, service: Service, operation: Operation, body: Any, status: int) -> Reply:  # noqa: ANN401
    """Return the reply to a request that started an operation."""
    where = (
        f"{request.base}/subscriptions/{operation['subscription']}/providers/Microsoft.ContainerService/"
        f"locations/{operation['location']}"
    )
    # An operation is read from Microsoft.ContainerService, which may not have a resource group's api-version.
    known = request.api_version in CONTAINER_SERVICE
    version = f"api-version={request.api_version if known else NEWEST}"
    headers = {"Azure-AsyncOperation": f"{where}/operations/{operation['id']}?{version}", **pause(service)}
    if status == 202:
        headers["Location"] = f"{where}/operationresults/{operation['id']}?{version}"
    return Reply(body, status, headers)


def pause(service: Service) -> dict[str, str]:
    """Return the header that says when to look again.

    In milliseconds, which azure-core understands, because whole seconds would make every small step of a
    rehearsal a second long.
    """
    return {"x-ms-retry-after-ms": str(service.settings.poll_milliseconds)}


def status(service: Service, request: Request) -> Reply:
    """GET …/locations/{location}/operations/{id}."""
    operation = _find(service, request)
    body = {
        "id": f"/subscriptions/{request.subscription}/providers/Microsoft.ContainerService/locations/"
        f"{operation['location']}/operations/{operation['id']}",
        "name": operation["id"],
        "status": operation["status"],
        "startTime": operation["startTime"],
    }
    if operation.get("endTime"):
        body["endTime"] = operation["endTime"]
    if operation.get("error"):
        body["error"] = operation["error"]
    return Reply(body, headers=pause(service) if operation["status"] == "InProgress" else {})


def result(service: Service, request: Request) -> Reply:
    """GET …/locations/{location}/operationresults/{id}: 202 while it lasts, then 204."""
    operation = _find(service, request)
    if operation["status"] == "InProgress":
        return Reply(None, 202, {"Location": f"{request.base}{request.path}", **pause(service)})
    if operation["status"] != "Succeeded":
        error = operation.get("error") or {"code": "OperationPreempted", "message": "The operation was canceled."}
        raise ArmError(409, error["code"], error["message"])
    return Reply(None, 204)


def _find(service: Service, request: Request) -> Operation:
    operation = service.store.operation(request.args["operation"])
    if operation is None or operation["subscription"].lower() != request.subscription.lower():
        raise ArmError(404, "NotFound", f"The operation '{request.args['operation']}' was not found.")
    return operation
