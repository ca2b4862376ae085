"""Writes the objects as YAML for `kubectl apply -f -`."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import yaml

from aksgpu.reporters.admission.objects import Described, Mode, Names, binding, namespace, policy, pool_map

EXAMPLE_POOLS: Final = {
    "gpunp": "advertiser dra\n"
    "label agentpool=gpunp\nlabel kubernetes.azure.com/agentpool=gpunp\n"
    "taint sku=gpu:NoSchedule"
}
"""What to replace by one's own pools when the policies aren't deployed with the stack."""

_POOLS = (
    "The node pools with GPUs, which policies can't look up: a key for each pool, with lines `advertiser dra`, "
    "`advertiser device-plugin` or `advertiser none` (what AKS runs on it), `label KEY=VALUE` and "
    "`taint KEY=VALUE:EFFECT`. Write your own here, and keep them up to date."
)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)


def text(
    rules: Iterable[Described],
    pools: Mapping[str, str] = EXAMPLE_POOLS,
    mode: Mode = "enforce",
    names: Names | None = None,
) -> str:
    """Return all objects, in the order of the rules, each rule with what must hold and the fix as comments."""
    return "---\n".join(_documents(rules, pools, mode, names or Names()))


def _documents(rules: Iterable[Described], pools: Mapping[str, str], mode: Mode, names: Names) -> Iterator[str]:
    yield _yaml(namespace(names))
    yield _comment(_POOLS) + _yaml(pool_map(pools, names))
    for rule in rules:
        told = (f"{rule.id} {rule.name} ({rule.severity}): {rule.summary}", f"Fix: {rule.fix}")
        yield "".join(_comment(line) for line in told) + _yaml(policy(rule, names))
        yield _yaml(binding(rule, mode, names))


def _yaml(item: dict[str, Any]) -> str:
    return yaml.dump(item, Dumper=_Dumper, sort_keys=False, width=4096, allow_unicode=True)


def _comment(line: str) -> str:
    return textwrap.fill(line, 118, initial_indent="# ", subsequent_indent="# ", break_long_words=False) + "\n"
