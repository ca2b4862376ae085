"""Running a command inside a twin: the environment that makes Pulumi, kubectl and the Azure SDKs talk to it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from twin.account import SUBSCRIPTION
from twin.errors import TwinError
from twin.lifecycle import endpoint
from twin.paths import CHECKOUT, TwinFolder

_PROJECT_FILES = ("Pulumi.yaml", "Pulumi.dev.yaml")


def environment(folder: TwinFolder) -> dict[str, str]:
    """Return the environment of commands run in the twin: this process's own, with the twin's on top."""
    # The twin's passphrase file must not be shadowed by a passphrase of the person's own.
    own = {key: value for key, value in os.environ.items() if key != "PULUMI_CONFIG_PASSPHRASE"}
    return {
        **own,
        "PATH": os.pathsep.join([str(folder.bin), str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PULUMI_HOME": str(folder.pulumi_home),
        "PULUMI_BACKEND_URL": folder.pulumi_backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE_FILE": str(folder.passphrase),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "TMPDIR": str(folder.temporary),
        "KUBECONFIG": str(folder.kubeconfig),
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        "AKSGPU_ARM_ENDPOINT": endpoint(folder),
        "AKSGPU_ARM_TOKEN_FILE": str(folder.token),
        "REQUESTS_CA_BUNDLE": str(folder.ca),
        # Everything of a twin is on this machine, which no proxy can reach.
        "NO_PROXY": _no_proxy(),
        "no_proxy": _no_proxy(),
    }


def _no_proxy() -> str:
    own = os.environ.get("NO_PROXY") or os.environ.get("no_proxy")
    return ",".join(part for part in (own, "127.0.0.1", "localhost") if part)


def run(folder: TwinFolder, command: Sequence[str]) -> NoReturn:
    """Become `command` inside the twin; raises TwinError when there is no such program."""
    env = environment(folder)
    ensure_dev_stack(folder, env)
    if shutil.which(command[0], path=env["PATH"]) is None:
        raise TwinError(
            f"There is no program '{command[0]}' on the PATH of the twin. Write the command after `--`, "
            "for example: aksgpu twin exec -- kubectl get nodes"
        )
    sys.stdout.flush()
    os.execvpe(command[0], list(command), env)  # noqa: S606 - the person's own command, as a list


def ensure_dev_stack(folder: TwinFolder, env: dict[str, str]) -> None:
    """Have the stack `dev` of this checkout exist in the twin's backend.

    `pulumi stack init` writes into the stack's file, so it runs on copies: a checkout stays clean.
    """
    if (folder.pulumi_backend / ".pulumi" / "stacks" / "aksgpu" / "dev.json").exists():
        return
    if not all((CHECKOUT / file).exists() for file in _PROJECT_FILES):
        return
    with tempfile.TemporaryDirectory(dir=folder.temporary) as scratch:
        for file in _PROJECT_FILES:
            shutil.copy(CHECKOUT / file, scratch)
        made = subprocess.run(
            ["pulumi", "stack", "init", "dev", "--non-interactive"],
            cwd=scratch,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
    if made.returncode:
        raise TwinError(f"The stack 'dev' could not be made in the twin '{folder.name}': {made.stderr.strip()}")
