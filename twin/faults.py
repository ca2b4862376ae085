"""The faults a person or a test can switch on, kept in one small file of the twin."""

import json
from dataclasses import dataclass
from pathlib import Path

from twin.errors import TwinError
from twin.files import read_object, replace_text, unreadable


@dataclass(frozen=True)
class Fault:
    """One way in which things go wrong, and who shows it."""

    summary: str
    shown_by: str
    """`azure`, `nodes` or `control plane`."""
    argument: str = ""
    """What the optional argument means; empty when there is none."""
    required: bool = False
    """Whether the argument must be given."""


_POOL = "pool: only the nodes of this pool"

FAULTS: dict[str, Fault] = {
    "arm-throttle": Fault("Azure answers every second write with 429 Throttled and a Retry-After", "azure"),
    "arm-conflict": Fault("Azure answers writes with 409: another operation is in progress", "azure"),
    "arm-500": Fault("Azure answers with 500 InternalServerError", "azure"),
    "arm-slow": Fault("every request to Azure takes this much longer", "azure", "seconds", required=True),
    "quota": Fault("no vCPU of the GPU families is left", "azure"),
    "sku-unavailable": Fault("the GPU sizes are not available in the region", "azure"),
    "allocation-failed": Fault("accepted pools fail to get their machines", "azure"),
    "feature-pending": Fault("the preview feature stays in Registering", "azure"),
    "wrong-driver-mode": Fault("Azure creates DRA pools in DevicePlugin mode and says Succeeded", "azure"),
    "pool-failed": Fault("pool operations end in Failed", "azure", "pool: only this pool"),
    "apiserver-down": Fault("the control plane's API server is stopped", "control plane"),
    "node-not-ready": Fault("nodes turn NotReady", "nodes", _POOL),
    "no-slices": Fault("the DRA driver publishes no ResourceSlice", "nodes", _POOL),
    "incomplete-pool": Fault("a resource pool announces more slices than it publishes", "nodes", _POOL),
    "stale-generation": Fault("an older generation of the resource pool stays beside the current", "nodes", _POOL),
    "tainted-devices": Fault("the devices carry a NoSchedule taint (dropped by 1.35 and older)", "nodes", _POOL),
    "prepare-fails": Fault("the driver fails to prepare claims on the node", "nodes", _POOL),
    "image-pull": Fault("container images can't be pulled", "nodes", _POOL),
    "drain-blocked": Fault(
        "evictions are refused as if a disruption budget forbade them", "azure", "pool: only this pool"
    ),
}


def active(file: Path) -> dict[str, str | None]:
    """Return the faults that are on, name to argument; an absent file means none."""
    try:
        written = read_object(file)
    except FileNotFoundError:
        return {}
    try:
        for name, argument in written.items():
            _check(name, argument, on=True)
    except TwinError as error:
        raise unreadable(file, error) from error
    return written


def switch(file: Path, name: str, argument: str | None, *, on: bool) -> None:
    """Switch one fault on or off; raises TwinError when there is no such fault or its argument is wrong."""
    _check(name, argument, on=on)
    faults = active(file)
    faults.pop(name, None)
    if on:
        faults[name] = argument
    replace_text(file, json.dumps(faults))


def _check(name: str, argument: object, *, on: bool) -> None:
    fault = FAULTS.get(name)
    if fault is None:
        raise TwinError(f"There is no fault '{name}'. `aksgpu twin fault --list` shows all {len(FAULTS)}.")
    if not isinstance(argument, str | None):
        raise TwinError(f"The argument of the fault '{name}' is text.")
    if argument is not None and not fault.argument:
        raise TwinError(f"The fault '{name}' takes no argument; write just '{name}'.")
    if on and fault.required and argument is None:
        raise TwinError(f"The fault '{name}' needs {fault.argument}: write '{name}=VALUE'.")
    if name == "arm-slow" and argument is not None:
        try:
            seconds = float(argument)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds <= 600:
            raise TwinError(f"'{argument}' is not a number of seconds from 0 to 600: write 'arm-slow=2.5'.")
