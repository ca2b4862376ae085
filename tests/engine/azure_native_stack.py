"""A stack on the real engine: programs are functions of the test, Azure is the twin's endpoint."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pulumi import automation as auto
from pulumi.automation import OpType

from tests.azure.harness import Endpoint
from twin import toolchain
from twin.arm.settings import SUBSCRIPTION
from twin.paths import CHECKOUT

Program = Callable[[], Any]


@dataclass
class Done:
    """What an operation of the engine did."""

    steps: dict[str, OpType] = field(default_factory=dict)
    """Logical name to operation; resources that stay the same and the stack itself are left out."""
    paths: dict[str, set[str]] = field(default_factory=dict)
    """Logical name to the property paths that differ."""
    order: list[tuple[str, str]] = field(default_factory=list)
    """Operation and logical name of every step, in order."""
    outputs: dict[str, Any] = field(default_factory=dict)
    text: str = ""


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

    def stack(self, name: str) -> "Stack":
        return Stack(self, name)


class Stack:
    """One stack. Every method runs the engine once and says what it did."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._folder = engine.root / "projects" / name
        self._folder.mkdir(parents=True)
        self.auto = auto.create_stack(
            name,
            project_name="plugin",
            program=lambda: None,
            opts=auto.LocalWorkspaceOptions(
                work_dir=str(self._folder),
                pulumi_command=auto.PulumiCommand(root=str(engine.root)),
                pulumi_home=engine.environment["PULUMI_HOME"],
                env_vars=engine.environment,
                project_settings=auto.ProjectSettings("plugin", "python"),
            ),
        )

    def up(self, program: Program) -> Done:
        done = Done()
        result = self.auto.up(program=program, on_event=_watch(done), on_output=_listen(done))
        done.outputs = {name: output.value for name, output in result.outputs.items()}
        return done

    def preview(self, program: Program) -> Done:
        done = Done()
        self.auto.preview(program=program, on_event=_watch(done), on_output=_listen(done))
        return done

    def refuses(self, program: Program) -> str:
        """Run `up`, which has to fail; returns what it said."""
        try:
            done = self.up(program)
        except auto.CommandError as error:
            return str(error)
        raise AssertionError(f"it went through: {done.text}")

    def refresh(self) -> Done:
        done = Done()
        self.auto.refresh(on_event=_watch(done), on_output=_listen(done))
        return done

    def destroy(self) -> Done:
        done = Done()
        self.auto.destroy(on_event=_watch(done), on_output=_listen(done))
        return done

    def inputs(self, name: str) -> dict[str, Any]:
        """Return the inputs of a resource in the state."""
        return self._resource(name)["inputs"]

    def outputs(self, name: str) -> dict[str, Any]:
        """Return the outputs of a resource in the state."""
        return self._resource(name)["outputs"]

    def _resource(self, name: str) -> dict[str, Any]:
        resources = (self.auto.export_stack().deployment or {})["resources"]
        (found,) = [resource for resource in resources if resource["urn"].endswith(f"::{name}")]
        return found


def _listen(done: Done) -> Callable[[str], None]:
    def listen(line: str) -> None:
        done.text += line + "\n"

    return listen


def _watch(done: Done) -> Callable[[auto.EngineEvent], None]:
    def watch(event: auto.EngineEvent) -> None:
        if event.resource_pre_event:
            _begin(done, event.resource_pre_event.metadata)
        elif event.res_outputs_event:
            _end(done, event.res_outputs_event.metadata)

    return watch


def _name(metadata: auto.StepEventMetadata) -> str:
    return metadata.urn.split("::")[-1]


def _begin(done: Done, metadata: auto.StepEventMetadata) -> None:
    if metadata.type.startswith("pulumi:"):
        return
    done.order.append((metadata.op.value, _name(metadata)))
    # A replacement shows as create-replacement, replace and delete-replaced; the middle one names it.
    if metadata.op not in (OpType.CREATE_REPLACEMENT, OpType.DELETE_REPLACED, OpType.SAME, OpType.READ):
        done.steps[_name(metadata)] = metadata.op
    if metadata.detailed_diff:
        done.paths.setdefault(_name(metadata), set()).update(metadata.detailed_diff)


def _end(done: Done, metadata: auto.StepEventMetadata) -> None:
    """Note what a refresh found, which it says only afterwards."""
    if done.steps.get(_name(metadata)) is OpType.REFRESH:
        done.steps[_name(metadata)] = metadata.op
        if metadata.op is OpType.SAME:
            del done.steps[_name(metadata)]
