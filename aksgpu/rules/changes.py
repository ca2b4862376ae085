"""AKSGPU22x: what can't be changed on a node pool that stays."""

from collections.abc import Iterator

from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolChange, PoolFacts
from aksgpu.facts.truth import known
from aksgpu.rules.model import Rule, Verdict

_DEFAULTS = {
    "vm_size": ("vmSize", None),
    "gpu_driver": ("gpuProfile.driver", "Install"),
    "management_mode": ("gpuProfile.nvidia.managementMode", "Unmanaged"),
    "driver_mode": ("gpuProfile.nvidia.driverMode", "DevicePlugin"),
    "mig_strategy": ("gpuProfile.nvidia.migStrategy", "None"),
    "gpu_instance_profile": ("gpuInstanceProfile", None),
}


def _value(pool: PoolFacts, field: str) -> str | None:
    """Return a field's effective value; None when it isn't known or has no default."""
    value = getattr(pool, field)
    return value if known(value) else _DEFAULTS[field][1] if value is None else None


def _differences(change: PoolChange) -> list[str]:
    texts = []
    for field, (path, _) in _DEFAULTS.items():
        # Azure reads an omitted property as "leave unchanged", so only a written one is a change.
        after = getattr(change.after, field)
        before = _value(change.before, field)
        if known(after) and before is not None and str(after).casefold() != before.casefold():
            texts.append(f"{path} from {before} to {after}")
    return texts


def _check(estate: Estate) -> Iterator[Verdict]:
    for change in estate.changes:
        differences = _differences(change)
        if differences:
            message = f"Pool {change.after.label} is kept and would change {', '.join(differences)}."
            yield Verdict(message, change.after.place)


GPU_FIELD_CHANGED_IN_PLACE = Rule(
    id="AKSGPU221",
    name="gpu-field-changed-in-place",
    severity="error",
    summary="A pool whose GPU settings or VM size change is replaced, not updated.",
    why=(
        "AKS fixes these properties when the pool is created and answers PropertyChangeNotAllowed, half-way "
        "through the update."
    ),
    fix=(
        "Create a pool under a new name, move the workloads, then delete the old pool; or list the property in "
        "replace_on_changes. The component aksgpu:index:NodePool does the latter."
    ),
    source="Microsoft Learn: AKS-managed GPU node pools (preview); Azure/azure-cli-extensions pull request 10343",
    on_unknown="A value that isn't known on either side is not called a change; Azure itself refuses it then.",
    check=_check,
    # What was there before is only in the output of `pulumi preview --json`; the engine doesn't show it to a policy.
    prevents=("files",),
    detects=(),
)

RULES = (GPU_FIELD_CHANGED_IN_PLACE,)
