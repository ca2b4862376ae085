"""What the values of a GPU stack say about who hands out whole GPUs.

The order of the questions decides which answer is given. It is that of NVIDIA/aicr (pkg/validator/v1,
allocation_policy.go), so that both say the same of the same values.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from aksgpu.facts.base import Malformed, Place, shown
from aksgpu.facts.stack import StackComponent, StackFacts
from aksgpu.facts.truth import Maybe, Unknown
from aksgpu.knowledge.stack_values import DEVICE_PLUGIN, DRA_DRIVERS, GPUS, OPERATORS, WAIVER

ALLOCATION_PATHS = ("enabled", GPUS, WAIVER, DEVICE_PLUGIN)
"""The values that are read here."""
PLUGIN_POLICY = "device-plugin-extended-resource"
DRA_POLICY = "dra-resource-claim"
UNDECIDED = "undecided"
"""The verdict while values that decide aren't known yet; not one of the command line's, where everything is known."""
_POSSIBLE: dict[str, tuple[bool | None, ...]] = {
    "enabled": (True, False),
    GPUS: (True, False, None),
    WAIVER: (True, False),
    DEVICE_PLUGIN: (True, False),
}
"""What a value can turn out to be, as far as it makes a difference; None is absent."""

_Chosen = dict[tuple[str, str], bool | None]


@dataclass(frozen=True)
class Allocation:
    """Who hands out whole GPUs."""

    policy: str | None
    """None unless the verdict is `ok`."""
    verdict: str
    message: str


@dataclass(frozen=True)
class Judged:
    """An answer, and the value that it is about."""

    allocation: Allocation
    place: Place
    possible: tuple[str, ...] = ()
    """The verdicts that an undecided one can become."""


@dataclass(frozen=True)
class _View:
    """What counts of a stack: components that are switched off don't."""

    stack: StackFacts
    operator: StackComponent | None
    dra: StackComponent | None

    @property
    def gpus(self) -> bool:
        return self.dra is not None and self.dra.flags.get(GPUS) is True

    @property
    def waiver(self) -> bool:
        return self.dra is not None and self.dra.flags.get(WAIVER) is True

    @property
    def plugin(self) -> bool:
        return self.operator is not None and self.operator.flags.get(DEVICE_PLUGIN) is not False

    def at(self, component: StackComponent | None, path: str) -> Place:
        return component.at(path) if component is not None else self.stack.place


def resolve(stack: StackFacts) -> Allocation:
    """Return the whole-GPU allocation policy of a stack, or the first reason why it has none."""
    return judge_stack(stack).allocation


def judge_stack(stack: StackFacts) -> Judged:
    """Answer as `resolve` does, and with the place."""
    missing = list(_missing(stack))
    if not missing:
        return _answer(stack)
    answers = [_answer(candidate) for candidate in _candidates(stack, missing)]
    if len({(item.allocation.policy, item.allocation.verdict) for item in answers}) == 1:
        return answers[0]
    names = ", ".join(f"{path} of {component.name}" for component, path in missing)
    possible = tuple(sorted({item.allocation.verdict for item in answers}))
    message = f"Who hands out whole GPUs can't be told before {names} is known; possible are {', '.join(possible)}."
    return Judged(Allocation(None, UNDECIDED, message), missing[0][0].place, possible)


def _missing(stack: StackFacts) -> Iterator[tuple[StackComponent, str]]:
    for component in stack.components:
        if component.name not in (*OPERATORS, *DRA_DRIVERS):
            continue
        if isinstance(component.enabled, Unknown) and component.malformed_at("enabled") is None:
            yield component, "enabled"
        for path, value in component.flags.items():
            if isinstance(value, Unknown) and path in _POSSIBLE and component.malformed_at(path) is None:
                yield component, path


def _candidates(stack: StackFacts, missing: list[tuple[StackComponent, str]]) -> Iterator[StackFacts]:
    """Yield the stack with everything that the unknown values can turn out to be."""
    for values in product(*(_POSSIBLE[path] for _, path in missing)):
        chosen: _Chosen = {
            (component.name, path): value for (component, path), value in zip(missing, values, strict=True)
        }
        yield stack.model_copy(update={"components": tuple(_filled(item, chosen) for item in stack.components)})


def _filled(component: StackComponent, chosen: _Chosen) -> StackComponent:
    flags: dict[str, Maybe[bool]] = {
        path: chosen.get((component.name, path), value) for path, value in component.flags.items()
    }
    return component.model_copy(
        update={
            "enabled": chosen.get((component.name, "enabled"), component.enabled),
            "flags": {path: value for path, value in flags.items() if value is not None},
        }
    )


def _answer(stack: StackFacts) -> Judged:
    view = _View(stack, operator=stack.enabled(*OPERATORS), dra=stack.enabled(*DRA_DRIVERS))
    for question in _QUESTIONS:
        refused = question(view)
        if refused is not None:
            return refused
    if view.gpus:
        message = "Whole GPUs are handed out by resource claims: the DRA driver publishes them."
        return Judged(Allocation(DRA_POLICY, "ok", message), stack.place)
    who = "a device plugin outside these charts" if stack.advertiser else "the GPU Operator's device plugin"
    message = f"Whole GPUs are handed out as nvidia.com/gpu, by {who}."
    return Judged(Allocation(PLUGIN_POLICY, "ok", message), stack.place)


def _refused(verdict: str, message: str, place: Place) -> Judged:
    return Judged(Allocation(None, verdict, message), place)


def _unknown_advertiser(view: _View) -> Judged | None:
    word = view.stack.advertiser
    if word in ("", "external"):
        return None
    message = (
        f'There is no advertiser {shown(word)}; the only word is "external", written so, for a device plugin that none '
        "of these charts installs."
    )
    return _refused("unknown-advertiser", message, view.stack.place)


def _malformed(component: StackComponent | None, path: str) -> Judged | None:
    problem: Malformed | None = component.malformed_at(path) if component is not None else None
    if component is None or problem is None:
        return None
    message = f"{problem.path} of {component.name} is {problem.given}; it has to be {problem.expected}."
    return _refused("malformed-value", message, component.at(problem.path))


def _malformed_switch(view: _View) -> Judged | None:
    found = (_malformed(view.stack.component(name), "enabled") for name in (*OPERATORS, *DRA_DRIVERS))
    return next((item for item in found if item is not None), None)


def _two_operators(view: _View) -> Judged | None:
    first, second = (view.stack.enabled(name) for name in OPERATORS)
    if first is None or second is None:
        return None
    message = (
        f"{first.name} and {second.name} are both enabled; each would install drivers and a device plugin on the "
        "same nodes."
    )
    return _refused("two-operators", message, second.place)


def _switch(view: _View) -> Judged | None:
    malformed = _malformed(view.dra, GPUS)
    if malformed is not None or view.dra is None or GPUS in view.dra.flags:
        return malformed
    message = (
        f"{view.dra.name} is enabled and {GPUS} isn't set. The chart's default is true, which its own guard then "
        "refuses, so neither answer may be left to a default."
    )
    return _refused("switch-not-pinned", message, view.dra.place)


def _malformed_waiver(view: _View) -> Judged | None:
    return _malformed(view.dra, WAIVER)


def _malformed_plugin(view: _View) -> Judged | None:
    return _malformed(view.operator, DEVICE_PLUGIN)


def _external_beside_others(view: _View) -> Judged | None:
    """Judge an external advertiser; it is the one, so whatever else advertises is one too many."""
    if not view.stack.advertiser:
        return None
    both = "and the external advertiser both hand out whole GPUs; exactly one may."
    if view.plugin and view.operator is not None:
        state = "true" if DEVICE_PLUGIN in view.operator.flags else "not set, which means true"
        message = f"{view.operator.name} ({DEVICE_PLUGIN} is {state}) {both}"
        return _refused("dual-advertisement", message, view.at(view.operator, DEVICE_PLUGIN))
    if view.gpus and view.dra is not None:
        message = f"{view.dra.name} ({GPUS} is true) {both}"
        return _refused("dual-advertisement", message, view.at(view.dra, GPUS))
    return None


def _chart_guard(view: _View) -> Judged | None:
    if view.dra is None or not view.gpus or view.waiver:
        return None
    message = (
        f"{view.dra.name} has {GPUS} true without {WAIVER} true; the chart's own guard refuses to be installed so."
    )
    return _refused("chart-guard", message, view.at(view.dra, GPUS))


def _dual(view: _View) -> Judged | None:
    if view.dra is None or view.operator is None or not (view.gpus and view.plugin):
        return None
    state = "true" if DEVICE_PLUGIN in view.operator.flags else "not set, which means true"
    message = (
        f"{view.dra.name} ({GPUS} is true) and {view.operator.name} ({DEVICE_PLUGIN} is {state}) both hand out whole "
        "GPUs; exactly one may."
    )
    return _refused("dual-advertisement", message, view.at(view.operator, DEVICE_PLUGIN))


def _nobody(view: _View) -> Judged | None:
    if view.gpus or view.plugin or view.stack.advertiser:
        return None
    plugin = f"{DEVICE_PLUGIN} is false" if view.operator is not None else "no GPU Operator is enabled"
    dra = f"{GPUS} is false" if view.dra is not None else "no DRA driver is enabled"
    message = f"Nobody hands out whole GPUs: {plugin} and {dra}."
    return _refused("no-advertiser", message, view.at(view.operator, DEVICE_PLUGIN))


def _inert_waiver(view: _View) -> Judged | None:
    if view.dra is None or view.gpus or not view.waiver:
        return None
    message = (
        f"{view.dra.name} has {WAIVER} true with {GPUS} false: the waiver does nothing but disarm the chart's guard "
        "for the day when somebody switches GPUs on."
    )
    return _refused("inert-waiver", message, view.at(view.dra, WAIVER))


_QUESTIONS: tuple[Callable[[_View], Judged | None], ...] = (
    _unknown_advertiser,
    _malformed_switch,
    _two_operators,
    _switch,
    _malformed_waiver,
    _malformed_plugin,
    _external_beside_others,
    _chart_guard,
    _dual,
    _nobody,
    _inert_waiver,
)
"""In this order; the first that refuses has the last word."""
