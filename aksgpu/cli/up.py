"""`aksgpu up`: deploy a stack with the policy pack, then show what Azure and Kubernetes report."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aksgpu.errors import AksgpuError
from aksgpu.readers.azure import Azure
from aksgpu.settings import PROJECT, Settings, load
from aksgpu.stack import recovery
from aksgpu.stack.engine import Stack

StackName = Annotated[str, Parameter(name=["--stack", "-s"], help="The stack, and with it Pulumi.STACK.yaml.")]


Recover = Annotated[
    bool,
    Parameter(negative=(), help="Deal with what a killed pulumi left, also on a stack that isn't in a twin."),
]

Yes = Annotated[
    bool,
    Parameter(
        name=["--yes", "-y"], negative=(), help="Don't ask before anything is changed; in a twin nobody is asked."
    ),
]


def up(*, stack: StackName = "dev", recover: Recover = False, yes: Yes = False) -> int:
    """Deploy a stack with the policy pack attached, then show what Azure and Kubernetes report.

    Shows the preview and asks first, as `pulumi up` does; a twin changes nothing that matters, so there it doesn't ask.
    Recovers by itself what a killed run left in a twin. Exit code 0 when everything that was asked for works, 1 when
    something doesn't, 2 when it could not be done.

    Example: aksgpu twin exec -- aksgpu up --stack dev
    """
    target, settings, azure = prepare(stack, recover=recover)
    packs = [part for pack in _packs(target.project) for part in ("--policy-pack", str(pack))]
    if target.run("up", *without_asking(yes=yes), *packs) != 0:
        return 1
    from aksgpu.cli.summary import show
    from aksgpu.stack.summary import read

    summary = read(settings, azure)
    show(summary)
    return 0 if summary.good else 1


def prepare(stack: str, *, recover: bool) -> tuple[Stack, Settings, Azure]:
    """Return the stack, its settings and its Azure subscription, after an earlier kill has been dealt with."""
    target = Stack.here(stack)
    config = target.config()
    settings = load(config)
    azure = Azure(subscription(config))
    recovery.recover(target, PROJECT, azure, _say, allowed=recover)
    return target, settings, azure


def without_asking(*, yes: bool) -> tuple[str, ...]:
    """Return the options with which pulumi changes things at once; none when a person has to agree first."""
    return ("--yes", "--skip-preview") if yes or recovery.in_a_twin() else ()


def _say(line: str) -> None:
    sys.stderr.write(f"aksgpu: {line}\n")


def subscription(config: Mapping[str, object]) -> str:
    """Return the subscription id: the stack's, the environment's, or that of the Azure CLI; AksgpuError for none."""
    written = config.get("azure-native:subscriptionId")
    variables = (os.environ.get("ARM_SUBSCRIPTION_ID"), os.environ.get("AZURE_SUBSCRIPTION_ID"))
    found = next((str(value) for value in (written, *variables, _of_the_azure_cli()) if value), None)
    if found is None:
        raise AksgpuError(
            "Which Azure subscription? Log in with `az login` and `az account set --subscription ID`, write "
            "azure-native:subscriptionId into the stack's file, or set AZURE_SUBSCRIPTION_ID."
        )
    return found


def _of_the_azure_cli() -> str | None:
    if "AKSGPU_ARM_ENDPOINT" in os.environ or shutil.which("az") is None:
        return None
    command = ["az", "account", "show", "--query", "id", "--output", "tsv"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or None


def _packs(project: Path) -> list[Path]:
    """Return the policy packs that lie beside the program."""
    return [
        pack
        for pack in (project / "policies", project / "policies" / "advice")
        if (pack / "PulumiPolicy.yaml").exists()
    ]
