"""`aksgpu twin`: a stand-in AKS on this machine."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from aksgpu.errors import AksgpuError

app = App(
    name="twin",
    help="A stand-in AKS on this machine: real Pulumi engine and Kubernetes control plane, simulated Azure and nodes.",
    help_format="plaintext",
)

Name = Annotated[str, Parameter(name=["--name"], help="Which twin; several can run side by side.")]


def _lifecycle() -> Any:  # noqa: ANN401 - a module
    """Return the twin's lifecycle; the installed library has none, since the twin lives in a checkout."""
    try:
        from twin import lifecycle
    except ModuleNotFoundError as error:
        raise AksgpuError(
            "The twin is part of a checkout of aksgpu, with its development packages, and not of the installed "
            f"library ({error}). Clone the repository and run `make up` there."
        ) from error
    return lifecycle


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


@app.command
def start(*, name: Name = "default", with_: Annotated[Path | None, Parameter(name="--with")] = None) -> None:
    """Start a twin: the Azure endpoint, and the control planes of clusters it already has.

    Parameters
    ----------
    with_
        A YAML file that fills a new twin with subscriptions, features, quotas, clusters, pools and workloads.
    """
    lifecycle = _lifecycle()
    folder = lifecycle.start(name, _say, with_)
    sys.stdout.write(
        f"The twin '{name}' runs; its Azure endpoint is {lifecycle.endpoint(folder)}.\n"
        "Run a command in it: aksgpu twin exec" + ("" if name == "default" else f" --name {name}") + " -- COMMAND\n"
    )


@app.command
def stop(*, name: Name = "default") -> None:
    """Stop a twin and keep its data."""
    was_running = _lifecycle().stop(name)
    sys.stdout.write(f"The twin '{name}' {'is stopped' if was_running else 'was not running'}; its data is kept.\n")


@app.command
def reset(*, name: Name = "default") -> None:
    """Stop a twin and forget everything it knew."""
    _lifecycle().reset(name)
    sys.stdout.write(f"The twin '{name}' is forgotten.\n")


@app.command
def status(*, name: Name = "default", format: str = "text") -> int:  # noqa: A002 - the flag's name
    """Show what runs, and which tool came from where, in which version. Exit code 1 when something is missing.

    Parameters
    ----------
    format
        text or json.
    """
    _lifecycle()
    from twin import status as twin_status

    if format not in {"text", "json"}:
        raise AksgpuError(f"--format is text or json, not '{format}'.")
    report = twin_status.read(name)
    if format == "json":
        sys.stdout.write(report.model_dump_json(indent=2) + "\n")
    else:
        twin_status.show(report)
    return 0 if report.healthy else 1


@app.command(name="exec")
def exec_(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    name: Name = "default",
    existing: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Run a command inside a twin, which is started if needed; returns the command's own exit code.

    Example: aksgpu twin exec -- pulumi up --stack dev

    Parameters
    ----------
    existing
        Don't make a twin that was never started: say so and end.
    """
    if not command:
        raise AksgpuError("Say which command to run, after `--`: aksgpu twin exec -- pulumi up --stack dev")
    lifecycle = _lifecycle()
    if existing:
        lifecycle.existing(name)
    folder = lifecycle.start(name, _say)
    from twin import execute

    execute.run(folder, command)


@app.command
def fault(
    fault_name: Annotated[str | None, Parameter(help="NAME or NAME=ARGUMENT.")] = None,
    /,
    *,
    name: Name = "default",
    off: Annotated[bool, Parameter(negative=())] = False,
    list_: Annotated[bool, Parameter(name="--list", negative=())] = False,
) -> None:
    """Switch a fault on, or off, to see how things fail.

    Example: aksgpu twin fault wrong-driver-mode

    Parameters
    ----------
    off
        Switch the fault off again.
    list_
        Show all faults, and which are on.
    """
    _lifecycle()
    from twin import faults
    from twin import status as twin_status
    from twin.lifecycle import existing

    if list_:
        twin_status.show_faults(name)
        return
    if fault_name is None:
        raise AksgpuError("Name a fault, or use --list to see all of them.")
    bare, _, argument = fault_name.partition("=")
    faults.switch(existing(name).faults, bare, argument or None, on=not off)
    sys.stdout.write(f"The fault '{bare}' is {'off' if off else 'on'} in the twin '{name}'.\n")
