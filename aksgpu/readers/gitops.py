"""Reads the charts that Flux (HelmRelease) and Argo CD (Application, ApplicationSet) will install."""

from collections.abc import Iterator, Mapping

from aksgpu.errors import AksgpuError
from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.readers.chart_values import merged
from aksgpu.readers.documents import only
from aksgpu.readers.fields import Fields
from aksgpu.readers.gpu_charts import read_chart
from aksgpu.readers.set_values import applied, parse
from aksgpu.readers.yaml_trees import Problem

_KINDS = {"helm.toolkit.fluxcd.io": ("HelmRelease",), "argoproj.io": ("Application", "ApplicationSet")}


def reads(group: str, kind: str) -> bool:
    """Tell whether objects of a kind install charts."""
    return kind in _KINDS.get(group, ())


def read(kind: str, data: object, place: Place, cluster: ClusterRef, part_of: str | None) -> Estate:
    """Return what the charts of one object deploy."""
    fields = Fields(data)
    name = fields.raw("metadata.name")
    title = f"{kind} {name if isinstance(name, str) else ''}".rstrip()
    charts = _flux(fields) if kind == "HelmRelease" else _argo(fields, kind)
    return Estate.merge(
        read_chart(chart, place.at(path), title, values, cluster, part_of) for chart, path, values in charts
    )


def _flux(fields: Fields) -> Iterator[tuple[Maybe[str], str, object]]:
    chart = fields.text("spec.chart.spec.chart")
    if chart is None:
        chart = fields.text("spec.chartRef.name")  # the name of a source is all that says which chart it is
    own = fields.raw("spec.values")
    # Values from ConfigMaps and Secrets lie below the object's own.
    base = UNKNOWN if fields.raw("spec.valuesFrom") not in (None, []) else {}
    yield chart, "spec.values", merged(base, {} if own is None else own)


def _argo(fields: Fields, kind: str) -> Iterator[tuple[Maybe[str], str, object]]:
    spec = "spec.template.spec" if kind == "ApplicationSet" else "spec"
    sources = fields.items(f"{spec}.sources")
    if isinstance(sources, list):
        for index, source in enumerate(sources):
            yield _source(Fields(source), f"{spec}.sources[{index}]")
    else:
        yield _source(Fields(fields.raw(f"{spec}.source")), f"{spec}.source")


def _source(source: Fields, path: str) -> tuple[Maybe[str], str, object]:
    """Return one source; without a chart it is a folder of a repository, which can't be seen from here."""
    chart = source.text("chart")
    values: object = UNKNOWN if source.raw("helm.valueFiles") not in (None, []) else {}
    own = source.raw("helm.valuesObject")  # with it, the text is ignored
    values = merged(values, _yaml(source.raw("helm.values")) if own is None else own)
    parameters = source.items("helm.parameters")
    if isinstance(parameters, Unknown):
        return chart, path, UNKNOWN
    for item in parameters or ():
        values = _set(values, item)
    return chart, path, values


def _set(values: object, parameter: object) -> object:
    """Return values with one parameter set; `UNKNOWN` when it can't be told which."""
    name = parameter.get("name") if isinstance(parameter, Mapping) else None
    value = parameter.get("value") if isinstance(parameter, Mapping) else None
    if not (isinstance(name, str) and isinstance(value, str)) or isinstance(values, Unknown):
        return UNKNOWN
    try:
        setting = parse(f"chart:{name}={value}")
    except AksgpuError:
        return UNKNOWN
    return merged(values, applied({}, setting.path, setting.value))


def _yaml(text: object) -> object:
    if text is None:
        return {}
    if not isinstance(text, str):
        return UNKNOWN
    document = only(text)
    if document is None:
        return {}
    return UNKNOWN if isinstance(document.data, Problem) else document.data
