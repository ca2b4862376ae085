"""Live checks: questions to Azure and to the cluster on every preview and every update.

A check is an output. What depends on it is not registered before the check has passed, and a check that fails
fails the run, each run again, until the cause is gone. What isn't known yet (a cluster that does not exist) is not
asked about: the output stays unknown, as Pulumi does with everything that isn't known yet.
"""

import asyncio
from collections.abc import Callable, Collection
from functools import cache
from typing import ParamSpec, TypeVar

import pulumi

from aksgpu.errors import AksgpuError
from aksgpu.facts.estate import Estate
from aksgpu.readers.azure import Azure
from aksgpu.readers.kube import Kube
from aksgpu.rules.book import RuleError, refuse_errors

P = ParamSpec("P")
T = TypeVar("T")


class RefusedError(pulumi.RunError):
    """What was asked for can't be, or what is there must not be touched. Pulumi shows just the text.

    Not a ValueError: the SDK wraps one that comes out of an input into another, and then shows a traceback.
    """


@cache
def azure(subscription: str) -> Azure:
    """Return the reader of a subscription; one for all components of a program."""
    return Azure(subscription)


@cache
def kube(kubeconfig: str | None) -> Kube:
    """Return the reader of a cluster; one for all components, so that exec plugins run once."""
    return Kube(kubeconfig)


def after(resource: pulumi.Resource, value: str) -> pulumi.Output[str]:
    """Return a value that previews know, and that still ties what uses it to `resource`.

    What uses it is created after the resource, deleted before it, and replaced with it. An output of the resource
    itself would do that too, but a preview may not know it yet.
    """
    return resource.urn.apply(lambda _: value)


async def ask(question: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Ask in a thread, so that other resources go on meanwhile; what can't be read refuses the run."""
    try:
        return await asyncio.to_thread(question, *args, **kwargs)
    except AksgpuError as error:
        raise RefusedError(str(error)) from None


def judge(estate: Estate, told: Collection[str] = ()) -> list[str]:
    """Ask the rule book: errors refuse the run, warnings are shown and returned, except those already `told`."""
    try:
        findings = refuse_errors(estate)
    except RuleError as error:
        raise RefusedError(str(error)) from None
    warnings = [finding.paragraph() for finding in findings if finding.severity == "warning"]
    for warning in warnings:
        if warning not in told:
            pulumi.log.warn(warning)
    return warnings


def whole(what: str, value: object, low: int, high: int | None = None) -> int:
    """Return a count as an int; refuse what isn't a whole number from `low` to `high`.

    Another language sends a whole number as a float.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and value % 1 == 0 and value >= low and (high is None or value <= high):
        return int(value)
    limits = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise RefusedError(f"{what} is {value!r}, and has to be a whole number {limits}.")
