"""The real engine with the plugin under test, against the twin's Azure endpoint without machines behind it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.azure.harness import Endpoint
from tests.engine.inline_stack import InlineStack
from twin import toolchain
from twin.arm.settings import SUBSCRIPTION
from twin.paths import CHECKOUT


def make_tools(root: Path) -> Path:
    """Put the engine, the language host and the plugin under test into one folder; returns it."""
    tools = toolchain.ensure(print, ["pulumi", "pulumi-language-python"])
    bin_ = root / "bin"
    bin_.mkdir(parents=True)
    for tool in tools.values():
        assert tool.path, f"{tool.name} is missing"
        (bin_ / tool.name).symlink_to(tool.path)
    plugin = bin_ / "pulumi-resource-azure-native"
    python = shlex.quote(sys.executable)
    plugin.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(CHECKOUT))} exec {python} -m twin.azure_native "$@"\n')
    plugin.chmod(0o755)
    return bin_


def environment(endpoint: Endpoint, root: Path, bin_: Path) -> dict[str, str]:
    """Return what `aksgpu twin exec` would set."""
    for name in ("home", "state", "tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.pathsep.join([str(bin_), os.environ["PATH"]]),
        "PULUMI_HOME": str(root / "home"),
        "PULUMI_BACKEND_URL": (root / "state").as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "TMPDIR": str(root / "tmp"),
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        "AKSGPU_ARM_ENDPOINT": endpoint.url,
        "AKSGPU_ARM_TOKEN_FILE": str(endpoint.folder.token),
        "REQUESTS_CA_BUNDLE": str(endpoint.folder.ca),
    }


class Engine:
    """The tools and folders shared by the stacks of a test run."""

    def __init__(self, endpoint: Endpoint, root: Path) -> None:
        self.endpoint = endpoint
        self.root = root
        self.bin = make_tools(root)
        self.environment = environment(endpoint, root, self.bin)

    def start(self, folder: Path, *arguments: str) -> subprocess.Popen[str]:
        """Start the engine's command line on a program in a file, as a person would."""
        return subprocess.Popen(
            [str(self.bin / "pulumi"), *arguments, "--non-interactive"],
            cwd=folder,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, *arguments: str) -> str:
        """Run the engine's command line to its end; returns what it printed."""
        process = self.start(folder, *arguments)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err
        return out

    def stack(self, name: str) -> InlineStack:
        """Return a new stack."""
        return InlineStack(self.bin, self.environment, self.root / "projects" / name, name)


def resource(stack: InlineStack, name: str) -> dict[str, Any]:
    """Return a resource in the state by its logical name."""
    (found,) = [found for found in stack.resources() if found["urn"].endswith(f"::{name}")]
    return found
