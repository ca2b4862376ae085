"""The closing summary of `aksgpu up`."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from aksgpu.stack.summary import ClaimSummary, JobSummary, PoolSummary, Summary


def show(summary: Summary) -> None:
    """Print the summary: colour on a terminal, plain whole lines elsewhere."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=240)
    console.print()
    console.print(f"[bold]Cluster {summary.cluster}[/], Kubernetes {summary.version}")
    _pools(console, summary.pools)
    _table(
        console,
        ("slice of driver", "resource pool", "node", "devices"),
        [(s.driver, s.resource_pool, s.node, str(s.devices)) for s in summary.slices],
    )
    _table(
        console,
        ("claim", "allocated devices"),
        [(f"{c.namespace}/{c.name}", _devices(c)) for c in summary.claims],
    )
    for job in summary.jobs:
        _job(console, job)
    console.print()
    if summary.good:
        console.print("[green]Everything that was asked for is there.[/]")
    for problem in summary.problems:
        console.print(f"[red]Not as asked for:[/] {problem}.")


def _pools(console: Console, pools: tuple[PoolSummary, ...]) -> None:
    _table(
        console,
        ("pool", "state", "osSku", "driver", "managementMode", "driverMode", "nodes Ready"),
        [
            (pool.name, *(value or "-" for value in pool.accepted.values()), f"{pool.ready}/{len(pool.node_names)}")
            if pool.accepted
            else (pool.name, "missing", "-", "-", "-", "-", "-")
            for pool in pools
        ],
    )


def _devices(claim: ClaimSummary) -> str:
    if not claim.found:
        return "the claim is missing"
    devices = ", ".join(claim.devices) or "none yet"
    return f"{devices} (released when the job was done)" if claim.released else devices


def _table(console: Console, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
    console.print()


def _job(console: Console, job: JobSummary) -> None:
    where = f" (pod {job.pod} on {job.node})" if job.pod else ""
    console.print(f"job {job.namespace}/{job.name}: [bold]{job.state}[/]{where}")
    for line in job.log:
        console.print(Text(f"  {line}", style="dim"))
