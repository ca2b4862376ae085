"""AKSGPU402 and 405: values that leave it open, or contradict each other about, who owns the driver."""

from collections.abc import Iterator

from aksgpu.facts.base import Place
from aksgpu.facts.stack import StackComponent, StackFacts
from aksgpu.facts.truth import Unknown
from aksgpu.knowledge.stack_values import (
    DRA_DRIVERS,
    DRIVER,
    DRIVER_ROOT,
    HOST_ROOT,
    INSTALL_DIR,
    OPERATORS,
    TOOLKIT,
)
from aksgpu.rules.driver_profiles import (
    AKS_DRIVER,
    CORE,
    PROFILES,
    Profile,
    changes,
    cleaned,
    effective,
    expected,
    profile_of,
)
from aksgpu.rules.model import Verdict
from aksgpu.rules.stack_checks import decided, stack_rule

_GUIDE = "NVIDIA/aicr: AKS GPU setup, GPU Driver Setup"


def unreadable(operator: StackComponent) -> bool:
    """Tell whether the values that everything else follows from have a finding of their own."""
    return any(operator.malformed_at(path) is not None for path in (DRIVER, TOOLKIT))


def _nulls(component: StackComponent, paths: tuple[str, ...]) -> list[str]:
    return [null for null in component.nulls if any(f"{path}.".startswith(f"{null}.") for path in paths)]


def _mixed(stack: StackFacts) -> Iterator[Verdict]:
    operator = stack.enabled(*OPERATORS)
    if operator is None or unreadable(operator):
        return
    nulls = _nulls(operator, (DRIVER, TOOLKIT))
    if nulls:
        text = (
            f"{nulls[0]} of {operator.name} is null: Helm then removes the chart's default, and nobody owns that part."
        )
        yield Verdict(text, operator.at(nulls[0]))
        return
    found = profile_of(stack)
    if isinstance(found, Unknown):
        missing = [path for path in CORE if isinstance(effective(operator, path), Unknown)]
        if not any(operator.malformed_at(path) for path in missing):
            text = f"Who owns the driver can't be judged before {', '.join(missing)} of {operator.name} is known."
            yield Verdict(text, operator.place, undecided=True)
    elif found is None:
        yield Verdict(_mix_message(stack, operator), operator.at(_first_written(operator)))


def _first_written(operator: StackComponent) -> str:
    return next((path for path in CORE if path in operator.flags or path in operator.texts), DRIVER)


def _mix_message(stack: StackFacts, operator: StackComponent) -> str:
    have = ", ".join(f"{path} {_shown(effective(operator, path))}" for path in CORE)
    ways = sorted(((list(changes(stack, profile)), profile) for profile in PROFILES), key=lambda way: len(way[0]))
    text = f"{operator.name} has {have}: a mix of two ways to own the driver."
    for needed, profile in ways:
        text += f" For {profile.name} (pools with gpuProfile.driver {profile.pool_driver}) set {', '.join(needed)}."
    return text


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _bad_directory(written: str) -> str | None:
    """Return what is wrong with a directory of the node."""
    if written == "":
        return "is empty"
    return None if written.startswith("/") else f"is {written}, which is no absolute path"


def _install_dir(stack: StackFacts) -> Iterator[Verdict]:
    operator = stack.enabled(*OPERATORS)
    if operator is None:
        return
    place = operator.at(INSTALL_DIR)
    written = operator.texts.get(INSTALL_DIR)
    if _nulls(operator, (INSTALL_DIR,)):
        yield Verdict(f"{INSTALL_DIR} of {operator.name} is null; leave it out to get the chart's default.", place)
    elif isinstance(written, str) and written:
        problem = _bad_directory(written)
        if cleaned(written) == HOST_ROOT:
            problem = "is /; containers can't be started with a mount over their whole file system"
        if problem:
            yield Verdict(f"{INSTALL_DIR} of {operator.name} {problem}.", place)


def _root(stack: StackFacts) -> Iterator[Verdict]:
    driver = stack.enabled(*DRA_DRIVERS)
    if driver is None or driver.malformed_at(DRIVER_ROOT) is not None:
        return
    place = driver.at(DRIVER_ROOT)
    written = driver.texts.get(DRIVER_ROOT)
    problem = "is null" if _nulls(driver, (DRIVER_ROOT,)) else None
    if isinstance(written, str):
        problem = _bad_directory(written)
    if problem:
        yield Verdict(f"{DRIVER_ROOT} of {driver.name} {problem}.", place)
        return
    found = profile_of(stack)
    operator = stack.enabled(*OPERATORS)
    if isinstance(found, Profile) and operator is not None and not unreadable(operator):
        yield from _root_of_profile(stack, driver, found, place)


def _root_of_profile(stack: StackFacts, driver: StackComponent, found: Profile, place: Place) -> Iterator[Verdict]:
    want, have = str(expected(stack, found, DRIVER_ROOT)), effective(driver, DRIVER_ROOT)
    if isinstance(have, Unknown):
        yield from decided(have, "", place, f"{DRIVER_ROOT} of {driver.name}")
        return
    if have == want:
        return
    state = f"is {have}" if DRIVER_ROOT in driver.texts else f"is not declared, which means {HOST_ROOT}"
    where = "the AKS node image has it" if found is AKS_DRIVER else "the GPU Operator installs it"
    text = f"{DRIVER_ROOT} of {driver.name} {state}, but the driver is at {want}, where {where} ({found.name})."
    yield Verdict(text, place)


def _driver_root(stack: StackFacts) -> Iterator[Verdict]:
    yield from _install_dir(stack)
    yield from _root(stack)


DRIVER_OWNERSHIP_MIXED = stack_rule(
    "AKSGPU402",
    "driver-ownership-mixed",
    _mixed,
    summary="Driver, container toolkit and runtime class have one owner: AKS or the GPU Operator.",
    why=(
        "Either the AKS node image brings driver and toolkit, or the operator installs both. With a part of each, "
        "containerd has no runtime for GPUs, or two drivers collide, and nodes offer no GPU at all."
    ),
    fix=(
        "Take all values of one way together, and create the pools to match: gpuProfile.driver Install for AKS's own "
        "driver, None for the operator's."
    ),
    source=f"{_GUIDE}; NVIDIA/aicr issues 1680, 1757, 1819",
)
DRIVER_ROOT_RULE = stack_rule(
    "AKSGPU405",
    "driver-root",
    _driver_root,
    summary="The DRA driver looks for the GPU driver where it is.",
    why=(
        "With the wrong root the DRA driver finds no driver libraries: it can't describe the GPUs to containers, and "
        "pods with claims don't start."
    ),
    fix=(
        "Set nvidiaDriverRoot to / for AKS's own driver; for the operator's to hostPaths.driverInstallDir, by default "
        "/run/nvidia/driver."
    ),
    source=f"{_GUIDE}; NVIDIA/aicr issues 1087, 1106, 1757",
)
RULES = (DRIVER_OWNERSHIP_MIXED, DRIVER_ROOT_RULE)
