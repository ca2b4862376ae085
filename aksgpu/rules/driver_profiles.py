"""The two ways in which an unmanaged pool gets its driver, each a set of values that belong together.

Source: NVIDIA/aicr, AKS GPU setup ("GPU Driver Setup") and the gpuStack profiles of its AKS recipes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import normpath

from aksgpu.facts.stack import ComponentName, StackComponent, StackFacts
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.knowledge.stack_values import (
    ASSUME_DRIVER,
    COLLECTOR_RUNTIME_CLASS,
    DRA_DRIVERS,
    DRIVER,
    DRIVER_ROOT,
    HOST_MOFED,
    HOST_ROOT,
    INSTALL_DIR,
    OPERATOR_ROOT,
    OPERATORS,
    RUNTIME_CLASS,
    TOOLKIT,
    VALUES,
)

Given = bool | str | Unknown


@dataclass(frozen=True)
class Profile:
    """Who owns the driver, and what follows from it."""

    name: str
    pool_driver: str
    """`gpuProfile.driver` of the pools."""
    values: dict[str, bool | str]


AKS_DRIVER = Profile(
    "AKS driver-only",
    "Install",
    {
        DRIVER: False,
        TOOLKIT: False,
        RUNTIME_CLASS: "nvidia-container-runtime",
        DRIVER_ROOT: HOST_ROOT,
        HOST_MOFED: False,
        ASSUME_DRIVER: True,
        COLLECTOR_RUNTIME_CLASS: "nvidia-container-runtime",
    },
)
OPERATOR_DRIVER = Profile(
    "GPU Operator-managed",
    "None",
    {
        DRIVER: True,
        TOOLKIT: True,
        RUNTIME_CLASS: "nvidia",
        DRIVER_ROOT: OPERATOR_ROOT,
        HOST_MOFED: False,
        ASSUME_DRIVER: False,
        COLLECTOR_RUNTIME_CLASS: "nvidia",
    },
)
PROFILES = (AKS_DRIVER, OPERATOR_DRIVER)
CORE = (DRIVER, TOOLKIT, RUNTIME_CLASS)
"""The values that decide which profile is meant; all others follow."""

_OWNERS: dict[str, tuple[ComponentName, ...]] = {
    **dict.fromkeys((*CORE, HOST_MOFED, INSTALL_DIR), OPERATORS),
    DRIVER_ROOT: DRA_DRIVERS,
    **dict.fromkeys((ASSUME_DRIVER, COLLECTOR_RUNTIME_CLASS), ("nvsentinel",)),
}


def owner(stack: StackFacts, path: str) -> StackComponent | None:
    """Return the enabled component that has a value of the profiles."""
    return stack.enabled(*_OWNERS[path])


def effective(component: StackComponent, path: str) -> Given:
    """Return a value, or the chart's default for one that isn't written; paths without what makes no difference."""
    given: Maybe[bool] | Maybe[str] = component.flags.get(path, component.texts.get(path))
    if given is None or (given == "" and path == INSTALL_DIR):
        default = next(value.default for value in VALUES[component.name] if value.path == path)
        given = default if default is not None else ""
    return cleaned(given) if path in (DRIVER_ROOT, INSTALL_DIR) and isinstance(given, str) else given


def cleaned(path: str) -> str:
    """Return a path without what makes no difference; an empty one stays empty."""
    return "/" + normpath(path).lstrip("/") if path.startswith("/") else path


def expected(stack: StackFacts, profile: Profile, path: str) -> bool | str:
    """Return what a profile wants; the root of an installed driver is where the operator is told to put it."""
    operator = owner(stack, INSTALL_DIR)
    if profile is OPERATOR_DRIVER and path == DRIVER_ROOT and operator is not None:
        directory = effective(operator, INSTALL_DIR)
        return directory if isinstance(directory, str) else OPERATOR_ROOT
    return profile.values[path]


def profile_of(stack: StackFacts) -> Profile | Unknown | None:
    """Return the profile that the core values are of; None for a mix, unknown while one may still be meant."""
    operator = stack.enabled(*OPERATORS)
    if operator is None:
        return None
    given = {path: effective(operator, path) for path in CORE}
    known = {path: value for path, value in given.items() if not isinstance(value, Unknown)}
    possible = [profile for profile in PROFILES if all(profile.values[path] == value for path, value in known.items())]
    if not possible:
        return None
    return possible[0] if len(known) == len(CORE) else UNKNOWN


def changes(stack: StackFacts, profile: Profile) -> Iterator[str]:
    """Yield every value that has to change for a stack to be of a profile, as `component path=value`."""
    for path in profile.values:
        component = owner(stack, path)
        if component is None:
            continue
        want = expected(stack, profile, path)
        have = effective(component, path)
        undeclared = path == DRIVER_ROOT and path not in component.texts and want != HOST_ROOT
        if undeclared or (not isinstance(have, Unknown) and have != want):
            yield f"{component.name} {path}={str(want).lower() if isinstance(want, bool) else want}"
