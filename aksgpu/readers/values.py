"""Reads the values of NVIDIA's charts as the command line gives them: files by component, and single values."""

import difflib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aksgpu.errors import AksgpuError
from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ANY_CLUSTER
from aksgpu.facts.estate import Estate
from aksgpu.facts.stack import ComponentName, StackComponent, StackFacts
from aksgpu.facts.truth import UNKNOWN, Unknown
from aksgpu.knowledge.stack_values import OTHER_NAMES, VALUES
from aksgpu.readers.chart_values import merged
from aksgpu.readers.documents import only
from aksgpu.readers.gpu_charts import read_chart
from aksgpu.readers.reading import Reading, Unreadable
from aksgpu.readers.set_values import Setting, applied, parse
from aksgpu.readers.stack_components import read_component, written_paths
from aksgpu.readers.text import read_text
from aksgpu.readers.yaml_trees import Problem

_Files = dict[str, str | None]
"""The file that has the last word, by path; None for the command line, and the empty path for the chart as a whole."""


def read_values(values: Sequence[str], sets: Sequence[str], advertiser: str) -> Reading:
    """Return the stack that `--values COMPONENT=FILE` and `--set COMPONENT:key.path=value` describe.

    Files of one component are laid over each other in their order, then the single values, as Helm does.
    AksgpuError for bad usage.
    """
    found: dict[str, object] = {}
    files: dict[str, _Files] = {}
    unreadable: list[Unreadable] = []
    texts: dict[str, str] = {}
    for text in values:
        name, file = _file(text)
        data = _load(file, texts)
        if isinstance(data, Unreadable):
            unreadable.append(data)
            data = UNKNOWN
        found[name] = merged(found.get(name, {}), data)
        files.setdefault(name, {}).update(dict.fromkeys(written_paths(name, data), file) | {"": file})
    for text in sets:
        setting = parse(text)
        name = component_name(setting.component)
        found[name] = _with(found.get(name, {}), setting)
        own = applied({}, setting.path, setting.value)
        files.setdefault(name, {}).update(dict.fromkeys(written_paths(name, own)))
    return Reading(read_stack(found, advertiser, files), tuple(unreadable), len(texts), texts=texts)


def read_stack(
    values: Mapping[str, object], advertiser: str = "", files: Mapping[str, _Files] = MappingProxyType({})
) -> Estate:
    """Return the facts in the values of charts by component: all that a cluster gets, and the software they deploy."""
    named = {component_name(name): {} if data is None else data for name, data in values.items()}
    components = tuple(_component(name, data, files.get(name, {})) for name, data in named.items())
    stack = StackFacts(place=Place(object="values"), components=components, advertiser=advertiser, complete=True)
    software = (_software(component, named[component.name]) for component in components)
    return Estate.merge([Estate(stacks=(stack,)), *software])


def component_name(given: str) -> ComponentName:
    """Return the name of a component as it is spelt; AksgpuError for any other word."""
    for name in VALUES:
        if given == name:
            return name
    near = difflib.get_close_matches(given.casefold(), [*VALUES, *OTHER_NAMES], n=1)
    meant = OTHER_NAMES.get(near[0], near[0]) if near else None
    hint = f" Did you mean {meant}?" if meant else ""
    raise AksgpuError(f"There is no component '{given}'.{hint} The components are {', '.join(VALUES)}.")


def _component(name: ComponentName, values: object, files: _Files) -> StackComponent:
    place = Place(object=f"values of {name}", file=files.get(""))
    component = read_component(name, values, place, can_be_disabled=True)
    return component.model_copy(update={"files": {path: file for path, file in files.items() if path}})


def _software(component: StackComponent, values: object) -> Estate:
    """Return what a component runs on nodes. What can't be read is said of the stack alone, so it isn't said twice."""
    if component.enabled is False:
        return Estate()
    place = component.place
    estate = read_chart(component.name, place, f"{component.name} of the values", values, ANY_CLUSTER)
    software = (item.model_copy(update={"enabled": component.enabled, "malformed": ()}) for item in estate.components)
    return Estate(components=tuple(software))


def _file(text: str) -> tuple[ComponentName, str]:
    name, equals, file = text.partition("=")
    if not (equals and file):
        raise AksgpuError(f"--values takes COMPONENT=FILE, for example gpu-operator=values.yaml; not '{text}'.")
    return component_name(name), file


def _load(file: str, texts: dict[str, str]) -> object:
    """Return the values in a file; an empty one says nothing."""
    text = read_text(file)
    if isinstance(text, Unreadable):
        return text
    texts[file] = text
    document = only(text)
    if document is None:
        return {}
    data = document.data
    if isinstance(data, Problem):
        return Unreadable(file, data.line, data.message)
    if not isinstance(data, Mapping):
        return Unreadable(file, document.line, "The values of a chart are keys with values; this is something else.")
    return data


def _with(values: object, setting: Setting) -> object:
    """Set one value; over values that could not be read, only that one is known."""
    if isinstance(values, Unknown):
        return merged(values, applied({}, setting.path, setting.value))
    return applied(values, setting.path, setting.value)
