"""`aksgpu upgrade plan`: the way of a cluster to a version, hop by hop."""

import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from aksgpu.cli.up import subscription as subscription_of
from aksgpu.errors import AksgpuError
from aksgpu.readers import upgrades
from aksgpu.settings import load
from aksgpu.stack.engine import Stack
from aksgpu.upgrade.model import Plan
from aksgpu.upgrade.plan import plan as make_plan

app = App(name="upgrade", help_format="plaintext")

Format = Literal["text", "json", "svg", "html"]


@app.command
def plan(
    *,
    to: str | None = None,
    resource_group: Annotated[str | None, Parameter(name=["--resource-group", "-g"])] = None,
    name: Annotated[str | None, Parameter(name=["--name", "-n"])] = None,
    subscription: str | None = None,
    stack: Annotated[str | None, Parameter(name=["--stack", "-s"])] = None,
    preview: Annotated[bool, Parameter(negative=())] = False,
    today: date | None = None,
    format: Format = "text",  # noqa: A002 - the flag's name
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> int:
    """Plan a cluster's upgrade from what Azure reports about it: every hop, what it brings, how long, how many nodes.

    Reads, and changes nothing. The cluster is named by --resource-group and --name, or it is the one of a stack
    (without any of these: of the stack dev of the project in this folder).

    Exit code 0 when there is a way or nothing to do, 1 when there is no way, 2 when Azure could not be read.

    Examples:

      aksgpu upgrade plan -g rg-shared -n aks-shared --to 1.36

      aksgpu upgrade plan --stack prod --format html --output upgrade.html

    Parameters
    ----------
    to
        A minor such as 1.36 or a patch such as 1.36.2. Without: the first minor with managed DRA pools (1.35); for a
        cluster that has it, the newest that AKS offers.
    resource_group
        Resource group of the cluster.
    name
        Name of the cluster.
    subscription
        Id of the subscription; otherwise that of the stack, of AZURE_SUBSCRIPTION_ID, or of `az login`.
    stack
        Plan for the cluster of this stack.
    preview
        Preview versions may be used, too; not for production.
    today
        Judge the ends of support as of this day (YYYY-MM-DD).
    format
        text for people, json for scripts, svg for a picture, html for a page with both.
    output
        Write to this file instead of standard output.
    """
    place = _place(resource_group, name, subscription, stack)
    found = upgrades.read(*place)
    if found is None:
        raise AksgpuError(f"There is no cluster {place[1]}/{place[2]} in the subscription {place[0]}.")
    made = make_plan(found, to, today or datetime.now(tz=UTC).date(), preview=preview)
    _write(_put(made, format), output)
    return 1 if made.refusal else 0


def _place(group: str | None, name: str | None, subscription: str | None, stack: str | None) -> tuple[str, str, str]:
    """Return subscription, resource group and name of the cluster that is meant."""
    if group and name and stack is None:
        return subscription or subscription_of({}), group, name
    if group or name:
        raise AksgpuError("Name the cluster with both --resource-group and --name, or with --stack alone.")
    config = Stack.here(stack or "dev").config()
    cluster = load(config).cluster.one
    return subscription or subscription_of(config), cluster.resource_group, cluster.name


def _put(made: Plan, wanted: Format) -> str:
    if wanted == "json":
        return made.model_dump_json(by_alias=True, indent=2) + "\n"
    if wanted == "svg":
        from aksgpu.upgrade.picture import svg

        return svg(made)
    if wanted == "html":
        from aksgpu.upgrade.page import html

        return html(made)
    from aksgpu.upgrade.text import text

    return text(made)


def _write(content: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(content)
        return
    try:
        output.write_text(content, encoding="utf-8")
    except OSError as error:
        raise AksgpuError(f"The plan can't be written to {output}: {error.strerror}.") from None
