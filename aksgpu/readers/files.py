"""Reads facts out of files and folders; what a file is, is found from its content."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from aksgpu.readers import manifests
from aksgpu.readers.documents import Document, documents
from aksgpu.readers.folders import Source, sources
from aksgpu.readers.reading import Reading, Unreadable
from aksgpu.readers.text import STANDARD_INPUT, read_text
from aksgpu.readers.yaml_trees import Problem

OnFile = Callable[[int, int], None]
"""Told how many files are done, of how many."""

_MARKS_OF_INPUT = ("apiVersion", "managedClusters", "agentPool", "urn:pulumi:", "Microsoft.ContainerService")
"""What every kind of file says that can be read here. A broken file that says none of it is somebody else's."""

_TEMPLATE = re.compile(r"^\s*(?:- +)?\{\{|: *\{\{", re.MULTILINE)
"""An action of a Go template where YAML would have a value; inside quotes it would be text."""


def read(paths: Sequence[str], on_file: OnFile | None = None) -> Reading:
    """Return the facts in files, in the files of folders, and in standard input (`-`)."""
    found, missing = sources(paths)
    readings = [Reading(unreadable=tuple(missing))]
    for number, source in enumerate(found, 1):
        readings.append(_read_file(source))
        if on_file is not None:
            on_file(number, len(found))
    return Reading.merge(readings)


def _read_file(source: Source) -> Reading:
    text = read_text(source.file)
    if isinstance(text, Unreadable):
        return Reading(unreadable=(text,), files=1)
    results = [_read_document(source.file, document, text) for document in documents(text)]
    parts = [part for part in results if part is not None]
    ours = source.named or any(mark in text for mark in _MARKS_OF_INPUT)
    strange = not any(isinstance(part, Reading) for part in parts)
    unreadable = [part for part in parts if isinstance(part, Unreadable)] if ours else []
    if strange and source.named and not unreadable:
        unreadable.append(Unreadable(source.file, None, _advice(source.file, text)))
    merged = Reading.merge(part for part in parts if isinstance(part, Reading))
    return Reading(
        estate=merged.estate,
        unreadable=(*unreadable, *merged.unreadable),
        files=1,
        passed_over=int(strange and not unreadable),
        texts={source.file: text} if merged.estate else {},
    )


def _read_document(file: str, document: Document, text: str) -> Reading | Unreadable | None:
    """Return what is in a document, what is wrong with it, or None for one that is nobody's business here."""
    data = document.data
    if isinstance(data, Problem):
        return Unreadable(file, data.line, _template(text) or data.message)
    if manifests.recognises(data):
        return Reading(manifests.read(data, file, document.index))
    for reader in _other_readers() if data else ():
        if reader.recognises(data):
            return reader.read(data, file)
    return None


def _other_readers() -> tuple[ModuleType, ...]:
    """Return the readers of everything but manifests; most folders hold none of it, so they are imported late."""
    from aksgpu.readers import arm_templates, az_json, pulumi_files

    return arm_templates, pulumi_files, az_json


def _template(text: str) -> str:
    """Return what to do about a template; empty text for what is none."""
    if _TEMPLATE.search(text) is None:
        return ""
    return (
        "This is a template of a Helm chart, which is no YAML before it is rendered: "
        "`helm template CHART | aksgpu check -` checks what it makes."
    )


def _advice(file: str, text: str) -> str:
    """Return what a file may be that is none of those that can be checked, and what to do with it."""
    name = Path(file).name.lower()
    if not text.strip():
        return "There is nothing in it."
    if name.startswith("kustomization."):
        return f"This is a kustomization: `kustomize build {Path(file).parent} | aksgpu check -` checks what it makes."
    return (
        "This is neither a Kubernetes manifest (it has no apiVersion and kind) nor az JSON, an ARM template, a Pulumi "
        "state or preview. If it holds the values of a chart, say of which: "
        f"aksgpu check --values gpu-operator={'FILE' if file == STANDARD_INPUT else file}"
    )
