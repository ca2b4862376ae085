"""Running the Pulumi command."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aksgpu.errors import AksgpuError


@dataclass(frozen=True)
class Stack:
    """A stack of the Pulumi project in `project`."""

    name: str
    project: Path

    @classmethod
    def here(cls, name: str) -> "Stack":
        """Return the stack of the project in the current folder or one above; AksgpuError when there is none."""
        if shutil.which("pulumi") is None:
            raise AksgpuError(
                "There is no `pulumi` on the PATH. For Azure install it from https://www.pulumi.com/docs/install/; to "
                "rehearse on this machine use the twin's, by writing `aksgpu twin exec --` before the command."
            )
        for folder in (Path.cwd(), *Path.cwd().parents):
            if (folder / "Pulumi.yaml").exists():
                return cls(name, folder)
        raise AksgpuError(
            f"No Pulumi.yaml in {Path.cwd()} or above it: run this in the folder of the program, beside Pulumi.yaml."
        )

    def run(self, *arguments: str) -> int:
        """Run `pulumi ARGUMENTS --stack NAME` in the person's view; returns its exit code."""
        return subprocess.run(self._command(arguments), cwd=self.project, check=False).returncode

    def ask(self, *arguments: str, given: str = "") -> str:
        """Return what `pulumi ARGUMENTS --stack NAME` prints when it reads `given`.

        Raises AksgpuError with its own words when it fails.
        """
        answer = subprocess.run(
            self._command(arguments), cwd=self.project, check=False, capture_output=True, text=True, input=given
        )
        if answer.returncode:
            said = (answer.stderr or answer.stdout).strip()
            raise AksgpuError(f"`pulumi {' '.join(arguments)} --stack {self.name}` failed: {said}")
        return answer.stdout

    def export(self) -> dict[str, Any]:
        """Return the stack's state as `pulumi stack export` writes it; `deployment` is None for a new stack."""
        return json.loads(self.ask("stack", "export"))

    def replace_state(self, exported: Mapping[str, Any]) -> None:
        """Put an exported and changed state back."""
        self.ask("stack", "import", given=json.dumps(exported))

    def config(self) -> dict[str, Any]:
        """Return the stack's configuration, key to value; structured values as Python objects."""
        entries = json.loads(self.ask("config", "--json"))
        return {key: entry.get("objectValue", entry.get("value")) for key, entry in entries.items()}

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return ["pulumi", *arguments, "--stack", self.name]
