"""The pre-commit hook and the pipelines that users copy: they are valid, pinned, careful, and their commands exist."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cyclopts import CycloptsError

from aksgpu.cli import command_line
from aksgpu.cli.check import check

CHECKOUT = Path(__file__).parents[3]
PIPELINES = sorted((CHECKOUT / "examples" / "ci").glob("*.yaml"))
GITHUB = yaml.safe_load((CHECKOUT / "examples" / "ci" / "github-actions.yaml").read_text())
COMMAND = re.compile(r"(?:^|\s)(aksgpu (?:[^|;&>\n]|\\\n)*?)(?=\s*(?:\d?>|\|| \|\||$))", re.MULTILINE)


def scripts(node: Any) -> Iterator[str]:
    """Yield everything in a pipeline that a shell runs."""
    match node:
        case dict():
            for key, value in node.items():
                if key in ("run", "script", "inlineScript") and isinstance(value, str):
                    yield value
                else:
                    yield from scripts(value)
        case list():
            for item in node:
                yield from scripts(item)


def commands(file: Path) -> list[list[str]]:
    texts = [text for script in scripts(yaml.safe_load(file.read_text())) for text in COMMAND.findall(script)]
    return [shlex.split(text)[1:] for text in texts if not text.startswith("aksgpu check`")]


def test_there_are_two_pipelines():
    assert [file.name for file in PIPELINES] == ["azure-pipelines.yaml", "github-actions.yaml"]


@pytest.mark.parametrize("file", PIPELINES, ids=[file.stem for file in PIPELINES])
def test_the_commands_of_a_pipeline_exist(file: Path):
    found = [arguments for arguments in commands(file) if arguments[0] == "check"]
    assert len(found) >= 2
    for arguments in found:
        function, bound, *_ = command_line().parse_args(arguments, exit_on_error=False, print_error=False)
        assert function is check
        assert not any(path.startswith("-") for path in bound.args)


def test_a_command_that_does_not_exist_would_be_noticed():
    with pytest.raises(CycloptsError):
        command_line().parse_args(["check", ".", "--format", "sarrif"], exit_on_error=False, print_error=False)


@pytest.mark.parametrize("file", PIPELINES, ids=[file.stem for file in PIPELINES])
def test_the_shell_understands_every_script(file: Path):
    for script in scripts(yaml.safe_load(file.read_text())):
        done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        assert done.stderr == ""


@pytest.mark.parametrize("file", PIPELINES, ids=[file.stem for file in PIPELINES])
def test_preview_packs_check_and_comment_are_there(file: Path):
    text = "\n".join(scripts(yaml.safe_load(file.read_text())))
    for part in ("--policy-pack policy-packs/aksgpu-guardrails", "--policy-pack policy-packs/aksgpu-advice"):
        assert part in text
    assert "aksgpu check preview.json" in text
    assert re.search(r"gh pr comment|pullRequests/.*/threads", text)


@pytest.mark.parametrize("file", PIPELINES, ids=[file.stem for file in PIPELINES])
def test_scripts_hold_no_secrets_and_no_foreign_text(file: Path):
    for script in scripts(yaml.safe_load(file.read_text())):
        assert "${{" not in script
        assert "$(System." not in script
    assert "secrets." not in file.read_text()


def test_actions_are_pinned_and_permissions_are_few():
    assert GITHUB["permissions"] == {}
    assert GITHUB["jobs"]["check"]["permissions"] == {"contents": "read", "security-events": "write"}
    assert GITHUB["jobs"]["preview"]["permissions"] == {
        "contents": "read", "id-token": "write", "pull-requests": "write",
    }  # fmt: skip
    uses = [step["uses"] for job in GITHUB["jobs"].values() for step in job["steps"] if "uses" in step]
    assert len(uses) >= 6
    assert all(re.fullmatch(r"[\w-]+/[\w/-]+@v\d+\.\d+\.\d+", item) for item in uses)
    assert "pull_request" in GITHUB[True]


def test_the_hook_is_valid_and_runs(tmp_path: Path):
    (hook,) = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text())
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    (tmp_path / "values.yaml").write_text("not: a manifest\n")
    (tmp_path / "service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: web}\n")
    program, *arguments = shlex.split(hook["entry"])
    command = [str(Path(sys.executable).with_name(program)), *arguments, *hook["args"]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 files checked" in done.stdout
