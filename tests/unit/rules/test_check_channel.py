"""Every example of the book through the command `aksgpu check`: manifests as files, resources as a Pulumi state or
preview, values as `--values`."""

import json
from pathlib import Path
from typing import Any

import pytest

from aksgpu.cli import check as command
from aksgpu.cli import command_line
from aksgpu.facts.truth import UNKNOWN
from aksgpu.rules.examples import Example
from aksgpu.rules.model import Rule
from tests.engine.example_state import state_of
from tests.unit.rules.book_examples import CASES, IDS


@pytest.mark.parametrize(("rule", "example"), CASES, ids=IDS)
def test_the_command_says_of_an_example_what_its_rule_says(
    rule: Rule, example: Example, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(command, "today", lambda: example.today)
    arguments = written(example, tmp_path)
    code = command_line()(["check", *arguments, "--format", "json"], exit_on_error=False, result_action="return_value")
    report = json.loads(capsys.readouterr().out)
    found = [finding for finding in report["findings"] if finding["rule"] == rule.id]
    assert report["unreadable"] == []
    assert bool(found) == (example.verdict != "pass")
    if example.verdict == "fail":
        assert found[0]["severity"] == rule.severity
        assert code == 1 or rule.severity != "error"
    assert all(finding["severity"] == "info" for finding in found) or example.verdict == "fail"
    assert all(finding["line"] for finding in found if finding["file"])


def test_every_kind_of_input_was_there():
    assert len(CASES) >= 300
    for part in ("resources", "before", "manifests", "values"):
        assert any(getattr(example, part) for _, example in CASES), part


def written(example: Example, folder: Path) -> list[str]:
    """Write an example into files, and return the arguments that check them."""
    if example.before:
        return [_file(folder / "preview.json", _preview(example))]
    if UNKNOWN in _leaves([example.manifests, example.values]):
        return [_file(folder / "state.json", _state(example))]  # files hold no unknown values, states do
    arguments = []
    if example.resources:
        alone = example._replace(manifests=(), values=None, cluster_version=None)
        arguments.append(_file(folder / "state.json", _state(alone)))
    if example.manifests:
        documents = "\n---\n".join(json.dumps(item, indent=1) for item in example.manifests)
        arguments.append(_file(folder / "manifests.yaml", f"# Made by a test\n---\n{documents}\n"))
    for component, values in (example.values or {}).items():
        file = _file(folder / f"{component}.yaml", "" if values is None else json.dumps(values))
        arguments += ["--values", f"{component}={file}"]
    if example.advertiser:
        arguments += ["--advertiser", example.advertiser]
    if example.cluster_version:
        arguments += ["--cluster-version", example.cluster_version]
    return arguments


def _file(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def _state(example: Example) -> str:
    return state_of([(0, example)], identified=False)


def _preview(example: Example) -> str:
    """The change from what was there to what is, as `pulumi preview --json` has it."""
    old = _resources(example._replace(resources=example.before, manifests=(), values=None))
    new = _resources(example)
    steps = [
        {"op": "update" if urn in old else "create", "urn": urn, "oldState": old.get(urn), "newState": new[urn]}
        for urn in new
    ]
    return json.dumps({"config": {}, "steps": steps, "changeSummary": {"update": len(steps)}})


def _resources(example: Example) -> dict[str, Any]:
    return {item["urn"]: item for item in json.loads(_state(example))["deployment"]["resources"]}


def _leaves(value: object) -> list[object]:
    match value:
        case dict():
            return [leaf for item in value.values() for leaf in _leaves(item)]
        case list() | tuple():
            return [leaf for item in value for leaf in _leaves(item)]
    return [value]
