"""Reads `cel/<rule>.yaml`, and the variables that rules share from `cel/shared.yaml`.

A rule's file has: `judges`, a key of `MATCHED`; `refuses`, CEL that is true for what breaks the rule; `says`, CEL that
tells in a sentence what breaks it; and optionally `variables`, `pools` (the rule needs the pools),
`everywhere` (system namespaces too), `debugging` (containers that are added to running pods too). `%(NAME)s` stands for
a text of `_WORDS`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from aksgpu.knowledge import gpu_software
from aksgpu.knowledge.node_labels import SET_ELSEWHERE, SHARED

POD_SPEC: Final = (
    "{0}.kind == 'Pod' ? dyn({0}.spec) :\n"
    "{0}.kind == 'CronJob' ? dyn({0}).spec.jobTemplate.spec.template.spec :\n"
    "dyn({0}).spec.template.spec"
)
"""CEL: where an object has its pod spec. `dyn`, because one expression serves kinds of different types."""

_FOLDER = Path(__file__).with_name("cel")
_SHARED = "shared"
_USED = re.compile(r"variables\.(\w+)")


def _pattern(text: str) -> str:
    """Return a regular expression as a raw string of CEL."""
    return f"r'(?i)(?:{text})'"


def _words(words: frozenset[str]) -> str:
    return f"[{', '.join(repr(word) for word in sorted(words))}]"


_WORDS = {
    "pod_spec": POD_SPEC.format("object"),
    "plugin": _pattern(gpu_software.PLUGIN),
    "dra_driver": _pattern(gpu_software.DRA_DRIVER),
    "dra_image": _pattern(gpu_software.DRA_IMAGE),
    "other_devices": _pattern(gpu_software.OTHER_DEVICES),
    "plugin_folder": f"r'^{gpu_software.PLUGIN_FOLDER.replace('/', '/+(?:[.]/+)*')}(?:/+kubelet[.]sock)?(?:/+[.]?)*$'",
    "helpers": _words(gpu_software.PLUGIN_HELPERS),
    "shells": _words(gpu_software.SHELLS),
    "gpu_resources": f"r'^(?:{'|'.join(re.escape(start) for start in gpu_software.EXTENDED_RESOURCES)})'",
    "shared_labels": _words(SHARED),
    "set_elsewhere": f"r'^(?:{'|'.join(re.escape(prefix) for prefix in SET_ELSEWHERE)})'",
}


@dataclass(frozen=True)
class Template:
    """The part of a policy that is written by hand."""

    judges: str
    refuses: str
    says: str
    variables: dict[str, str]
    """Those it uses, each after those that it uses itself."""
    pools: bool = False
    everywhere: bool = False
    debugging: bool = False


def covered() -> frozenset[str]:
    """Return the names of the rules that have a policy."""
    return frozenset(path.stem for path in _FOLDER.glob("*.yaml")) - {_SHARED}


@cache
def template(rule: str) -> Template:
    """Return the template of a rule, by the rule's name."""
    data = _read(rule)
    known = {**_read(_SHARED), **data.pop("variables", {})}
    used = _ordered(f"{data['refuses']} {data['says']}", known)
    return Template(**data, variables={name: known[name] for name in used})


def _read(name: str) -> dict[str, Any]:
    data = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return _filled(data)


def _filled(value: Any) -> Any:  # noqa: ANN401 - YAML
    match value:
        case dict():
            return {key: _filled(item) for key, item in value.items()}
        case str():
            return (value % _WORDS).strip()
    return value


def _ordered(expression: str, known: dict[str, str]) -> list[str]:
    """Return the variables that an expression uses, and those they use before them: a policy is read from the top."""

    def visit(text: str) -> Iterator[str]:
        for name in _USED.findall(text):
            yield from visit(known[name])
            yield name

    return list(dict.fromkeys(visit(expression)))
