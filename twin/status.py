"""What a twin is doing, for a person and for scripts."""

import os

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from twin import faults, lifecycle, toolchain
from twin.controlplane import ControlPlane
from twin.paths import DEFAULT_NAME, TwinFolder


class ToolStatus(BaseModel):
    """One program the twin needs."""

    name: str
    version: str
    origin: str
    """`path`, `built` or `missing`."""
    path: str
    note: str


class ClusterStatus(BaseModel):
    """One cluster's control plane."""

    name: str
    version: str
    server: str
    processes: dict[str, int]
    """What runs, and its process id."""


class TwinStatus(BaseModel):
    """Everything `aksgpu twin status` shows."""

    name: str
    running: bool
    answering: bool
    endpoint: str
    folder: str
    clusters: list[ClusterStatus]
    faults: dict[str, str | None]
    tools: list[ToolStatus]

    @property
    def healthy(self) -> bool:
        """Whether the twin runs, answers, and no tool is missing."""
        return self.running and self.answering and all(tool.origin != "missing" for tool in self.tools)


def read(name: str) -> TwinStatus:
    """Look at the twin `name`; only the default twin may be one that was never started."""
    folder = _folder(name)
    known = folder.settings.exists()
    process = lifecycle.running(folder)
    return TwinStatus(
        name=name,
        running=process is not None,
        answering=process is not None and lifecycle.answers(folder),
        endpoint=lifecycle.endpoint(folder) if known else "",
        folder=str(folder.root),
        clusters=[_cluster(path.name, ControlPlane(path, {})) for path in sorted(folder.clusters.glob("*/"))],
        faults=faults.active(folder.faults),
        tools=[
            ToolStatus(
                name=tool.name,
                version=tool.version,
                origin=tool.origin,
                path=str(tool.path or ""),
                note=tool.note,
            )
            for tool in toolchain.locate().values()
        ],
    )


def _folder(name: str) -> TwinFolder:
    """Return a twin's folder. A name that somebody gave has to exist; whoever gives none asks what there is."""
    return TwinFolder.of(name) if name == DEFAULT_NAME else lifecycle.existing(name)


def _cluster(name: str, plane: ControlPlane) -> ClusterStatus:
    # A cluster whose first start failed has no address.
    server = plane.server if plane.version else ""
    return ClusterStatus(name=name, version=plane.version or "", server=server, processes=plane.processes())


def show(status: TwinStatus) -> None:
    """Print the status: a table on a terminal, the same columns as plain text elsewhere."""
    console = _console()
    state = "answers" if status.answering else "runs but does not answer" if status.running else "is not running"
    console.print(f"[bold]twin '{status.name}'[/] {state} [{_mark(good=status.answering)}] {status.endpoint}")
    console.print(f"  data in {status.folder}")
    for cluster in status.clusters:
        parts = ", ".join(f"{name} {pid}" for name, pid in cluster.processes.items()) or "stopped"
        where = f"{cluster.name} {cluster.version} {cluster.server}"
        console.print(f"  {_mark(good=bool(cluster.processes))} cluster {where} ({parts})")
    for name, argument in status.faults.items():
        console.print(f"  [yellow]![/] fault {name}{'=' + argument if argument else ''} is on")
    table = Table(box=None, pad_edge=False)
    for column in ("", "tool", "version", "from", "where"):
        table.add_column(column, no_wrap=column != "where")
    for tool in status.tools:
        where = tool.path + (f" ({tool.note})" if tool.note else "")
        table.add_row(_mark(good=tool.origin != "missing"), tool.name, tool.version, tool.origin, where)
    console.print(table)
    if not status.running:
        named = "" if status.name == DEFAULT_NAME else f" --name {status.name}"
        console.print(f"Start it with: aksgpu twin start{named}")


def show_faults(name: str) -> None:
    """Print every fault, what it does, and whether it is on."""
    on = faults.active(_folder(name).faults)
    table = Table(box=None, pad_edge=False)
    for column in ("fault", "what happens", "argument", "on"):
        table.add_column(column, overflow="fold")
    for key, fault in faults.FAULTS.items():
        table.add_row(key, fault.summary, fault.argument or "-", "on" if key in on else "-")
    _console().print(table)


def _console() -> Console:
    # Off a terminal nothing wraps: scripts and CI logs get whole lines.
    return Console(highlight=False) if os.isatty(1) else Console(highlight=False, width=200, soft_wrap=True)


def _mark(*, good: bool) -> str:
    return "[green]ok[/]" if good else "[red]no[/]"
