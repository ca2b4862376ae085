"""`aksgpu check`: the rule book on files."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from aksgpu.cli import reports
from aksgpu.cli.progress import progress
from aksgpu.cli.rule_names import chosen
from aksgpu.errors import AksgpuError
from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterFacts
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import Unknown
from aksgpu.readers import files
from aksgpu.readers.reading import Reading
from aksgpu.rules.book import judge, rule

_VERSION = re.compile(r"v?(1\.\d+(?:\.\d+)?)")


def check(
    *path: Annotated[str, Parameter(allow_leading_hyphen=True)],
    values: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = (),
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=(), show_default=False)] = (),
    advertiser: Annotated[str, Parameter(show_default=False)] = "",
    cluster_version: str | None = None,
    format: Literal["text", "json", "sarif", "junit"] = "text",  # noqa: A002 - the flag's name
    select: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=True, show_default=False)] = (),
    ignore: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=True, show_default=False)] = (),
    fail_on: Literal["error", "warning"] = "error",
) -> int:
    """Check files against the rule book: who hands out the GPUs, and can the workloads get them?

    Reads Kubernetes manifests, `az aks show` and `az aks nodepool list` (-o json), ARM templates, `pulumi stack export`
    and `pulumi preview --json`, and tells them apart by their content.

    Exit code 0 when no rule is broken, 1 when one is, 2 when something could not be read.

    Examples:

      aksgpu check manifests/ --cluster-version 1.35

      helm template my-chart | aksgpu check - pools.json

      aksgpu check --values gpu-operator=values.yaml

      aksgpu check . --format sarif > aksgpu.sarif

    Parameters
    ----------
    path
        Files, folders, or - for standard input.
    values
        COMPONENT=FILE: the values of a chart that is installed; may be given several times.
    set_
        COMPONENT:key.path=value: one value of a chart, as after `helm install --set`; may be given several times.
    advertiser
        Who else hands out whole GPUs: external for a device plugin that none of the charts installs.
    cluster_version
        Kubernetes version of the clusters, where the files don't say it: 1.35 or 1.35.4.
    format
        text for people, json for scripts, sarif for code review, junit for build servers.
    select
        Check only these rules, by name or id.
    ignore
        Don't check these rules.
    fail_on
        With warning, warnings make the exit code 1 too.
    """
    selected, more_paths = _names(select)
    ignored, still_more = _names(ignore)
    paths = (*path, *more_paths, *still_more)
    _refuse_options(paths)
    rules = chosen(selected, ignored)
    version = None if cluster_version is None else _parsed(cluster_version)
    if not (paths or values or set_ or advertiser):
        raise AksgpuError("Say what to check: files, folders, - for standard input, or --values COMPONENT=FILE.")
    reading = _read(paths, values, set_, advertiser)
    findings = judge(_completed(reading.estate, version), rules)
    report = reports.made(reading, findings, rules)
    reports.write(report, format)
    failing = report.count("error") + (report.count("warning") if fail_on == "warning" else 0)
    return 2 if report.unreadable else min(failing, 1)


def today() -> date:
    """Return the day on which support windows are judged."""
    return datetime.now(tz=UTC).date()


def _refuse_options(paths: Iterable[str]) -> None:
    """Refuse what looks like an option; only `-` is a path."""
    wrong = next((path for path in paths if path.startswith("-") and path != "-"), None)
    if wrong is not None:
        raise AksgpuError(f"There is no option {wrong}; `aksgpu check --help` lists them. A file is ./{wrong}.")


def _names(given: Iterable[str]) -> tuple[list[str], list[str]]:
    """Part the names of rules from paths that follow them: `--select dual-advertisement manifests/`."""
    words = [word for text in given for word in text.split(",") if word]
    paths = [word for word in words if rule(word) is None and (word == "-" or Path(word).exists())]
    return [word for word in words if word not in paths], paths


def _parsed(version: str) -> str:
    match = _VERSION.fullmatch(version)
    if match is None:
        raise AksgpuError(f"--cluster-version is a Kubernetes version such as 1.35 or 1.35.4, not '{version}'.")
    return match.group(1)


def _read(paths: Sequence[str], values: Sequence[str], sets: Sequence[str], advertiser: str) -> Reading:
    parts = []
    if paths:
        with progress("Reading files") as on_file:
            parts.append(files.read(paths, on_file))
    if values or sets or advertiser:
        from aksgpu.readers.values import read_values

        parts.append(read_values(values, sets, advertiser))
    return Reading.merge(parts)


def _completed(estate: Estate, version: str | None) -> Estate:
    """Add what the command line says: the day, and the version of clusters whose version no file says."""
    said = any(isinstance(cluster.kubernetes_version, str | Unknown) for cluster in estate.clusters)
    if version is None or said:
        return Estate.merge([estate, Estate(today=today())])
    cluster = ClusterFacts(place=Place(object="--cluster-version"), kubernetes_version=version)
    return Estate.merge([estate, Estate(clusters=(cluster,), today=today())])
