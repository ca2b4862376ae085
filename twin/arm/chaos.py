"""The faults that concern every request."""

import itertools
import threading

from twin.arm.errors import ArmError
from twin.arm.service import Service
from twin.arm.throttle import throttled

WRITES = ("PUT", "PATCH", "DELETE")
_counter = itertools.count(1)
_lock = threading.Lock()


def check(service: Service, method: str, path: str) -> None:
    """Raise ArmError when a fault says that this request fails."""
    on = service.faults()
    if "arm-500" in on:
        raise ArmError(500, "InternalServerError", "Encountered internal server error: the fault arm-500 is on.")
    if method not in WRITES:
        return
    if "arm-conflict" in on and "/managedclusters/" in path.lower():
        raise ArmError(
            409,
            "OperationNotAllowed",
            "Operation is not allowed: Another operation (Updating) is in progress, please wait for it to finish "
            "before starting a new operation. See https://aka.ms/aks-pending-operation for more details",
        )
    if "arm-throttle" in on and _is_second():
        raise throttled(1)


def _is_second() -> bool:
    with _lock:
        return next(_counter) % 2 == 0
