"""Stacks whose programs are functions of the test, on the real engine inside a twin."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pulumi import automation as auto

Program = Callable[[], None]


@dataclass
class Run:
    """What the engine did in one run."""

    order: list[tuple[str, str]] = field(default_factory=list)
    """Operation and `Type name` of every step that changes something, in order; components are left out."""
    paths: dict[str, set[str]] = field(default_factory=dict)
    """`Type name` to the property paths that differ."""
    text: str = ""
    outputs: dict[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, str]:
        """`Type name` to what happens to it: create, update, replace, delete."""
        shown = {"create", "update", "replace", "delete"}
        return {name: operation for operation, name in self.order if operation in shown}

    def see(self, event: auto.EngineEvent) -> None:
        """Take an event of the engine in."""
        if event.resource_pre_event:
            self._begin(event.resource_pre_event.metadata)
        elif event.res_outputs_event:
            self._end(event.res_outputs_event.metadata)

    def _begin(self, step: auto.StepEventMetadata) -> None:
        name = _name(step)
        if name is None or step.op.value in {"same", "read"}:
            return
        self.order.append((step.op.value, name))
        if step.detailed_diff:
            self.paths.setdefault(name, set()).update(step.detailed_diff)

    def _end(self, step: auto.StepEventMetadata) -> None:
        """Note what a refresh found, which the engine says only afterwards."""
        name = _name(step)
        if name and ("refresh", name) in self.order:
            self.order.remove(("refresh", name))
            if step.op.value != "same":
                self.order.append((step.op.value, name))

    def hear(self, line: str) -> None:
        """Take a line of output in."""
        self.text += line + "\n"


def _name(step: auto.StepEventMetadata) -> str | None:
    """Return `Type name`; None for components, the stack and default providers."""
    kind, _, name = step.urn.rpartition("::")
    token = kind.rpartition("::")[2].rpartition("$")[2]
    if token.startswith(("aksgpu:", "pulumi:pulumi:")):
        return None
    if token.startswith("pulumi:providers:") and name.startswith("default"):
        return None
    return f"{token.rpartition(':')[2]} {name}"


class InlineStack:
    """One stack. Every method runs the engine once."""

    def __init__(self, bin_: Path, environment: dict[str, str], folder: Path, name: str) -> None:
        folder.mkdir(parents=True)
        self.name = name
        self.auto = auto.create_stack(
            name,
            project_name="inline",
            program=lambda: None,
            opts=auto.LocalWorkspaceOptions(
                work_dir=str(folder),
                pulumi_command=auto.PulumiCommand(root=str(bin_.parent)),
                pulumi_home=environment["PULUMI_HOME"],
                env_vars=environment,
                project_settings=auto.ProjectSettings("inline", "python"),
            ),
        )

    def preview(self, program: Program) -> Run:
        """Preview a program."""
        run = Run()
        self.auto.preview(program=program, on_event=run.see, on_output=run.hear)
        return run

    def up(self, program: Program) -> Run:
        """Bring a program up."""
        run = Run()
        done = self.auto.up(program=program, on_event=run.see, on_output=run.hear)
        run.outputs = {name: output.value for name, output in done.outputs.items()}
        return run

    def refuses(self, act: Callable[[Program], Run], program: Program) -> str:
        """Run `preview` or `up`, which has to fail without a traceback; returns what was said."""
        try:
            done = act(program)
        except auto.CommandError as error:
            assert "Traceback" not in str(error), str(error)
            return str(error)
        raise AssertionError(f"it went through: {done.text}")

    def refresh(self) -> Run:
        """Read everything back into the state."""
        run = Run()
        self.auto.refresh(on_event=run.see, on_output=run.hear)
        return run

    def destroy(self) -> Run:
        """Delete everything, without running the program."""
        run = Run()
        self.auto.destroy(on_event=run.see, on_output=run.hear)
        return run

    def resources(self) -> list[dict[str, Any]]:
        """Return the resources in the state."""
        return (self.auto.export_stack().deployment or {}).get("resources", [])

    def inputs(self, token: str) -> dict[str, Any]:
        """Return the inputs of the only resource of a type in the state."""
        (found,) = [resource for resource in self.resources() if resource["type"] == token]
        return found["inputs"]

    def command(self, *arguments: str) -> None:
        """Run `pulumi ARGUMENTS` on this stack."""
        workspace = self.auto.workspace
        workspace.pulumi_command.run([*arguments, "--stack", self.name], workspace.work_dir, workspace.env_vars)
