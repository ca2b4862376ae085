"""Writes the objects as YAML for `kubectl apply -f -`."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import yaml

from aksgpu.reporters.admission.objects import Described, Mode, Names, binding, policy
from aksgpu.reporters.admission.templates import template

EXAMPLE_POOLS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "gpunp",
        "advertiser": "dra",
        "labels": {"agentpool": "gpunp", "kubernetes.azure.com/agentpool": "gpunp"},
        "taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}],
    },
)
"""What to replace by one's own pools when the policies aren't deployed with the stack."""

_POOLS = (
    "Policies can't look up node pools. The variable `pools` holds those with GPUs: the advertiser that AKS runs on "
    "each (dra, device-plugin or none), the labels and the taints of its nodes. Write your own there, and keep them up "
    "to date."
)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and everything in full wherever it stands."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)


def text(
    rules: Iterable[Described],
    pools: Sequence[Mapping[str, Any]] = EXAMPLE_POOLS,
    mode: Mode = "enforce",
    names: Names | None = None,
) -> str:
    """Return all objects, in the order of the rules, each rule with what must hold and the fix as comments."""
    return "---\n".join(_documents(list(rules), pools, mode, names or Names()))


def _documents(rules: list[Described], pools: Sequence[Mapping[str, Any]], mode: Mode, names: Names) -> Iterator[str]:
    for rule in rules:
        told = (f"{rule.id} {rule.name} ({rule.severity}): {rule.summary}", f"Fix: {rule.fix}")
        about = (*told, _POOLS) if template(rule.name).pools else told
        yield "".join(_comment(line) for line in about) + _yaml(policy(rule, pools, names))
        yield _yaml(binding(rule, mode, names))


def _yaml(item: dict[str, Any]) -> str:
    return yaml.dump(item, Dumper=_Dumper, sort_keys=False, width=4096, allow_unicode=True)


def _comment(line: str) -> str:
    return textwrap.fill(line, 118, initial_indent="# ", subsequent_indent="# ", break_long_words=False) + "\n"
