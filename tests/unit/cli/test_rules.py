"""`aksgpu rules`."""

import pytest
import yaml

from aksgpu.cli.rules import rules
from aksgpu.errors import AksgpuError
from aksgpu.rules.book import BOOK


def test_the_list_is_one_line_a_rule_outside_a_terminal(capsys: pytest.CaptureFixture[str]):
    rules()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [entry.id for entry in BOOK]


def test_the_list_is_a_table_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    rules()
    assert "What must hold" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["AKSGPU301", "aksgpu301", "dual-advertisement", "Dual-Advertisement"])
def test_a_rule_is_explained(name: str, capsys: pytest.CaptureFixture[str]):
    rules(name)
    text = capsys.readouterr().out
    entry = next(entry for entry in BOOK if entry.id == "AKSGPU301")
    for part in (entry.id, entry.name, entry.summary, entry.why, entry.fix, entry.on_unknown, entry.source):
        assert part in text


def test_a_name_that_is_not_there_gets_a_near_one():
    with pytest.raises(AksgpuError, match=r"no rule 'dual-advertisment'.*Did you mean dual-advertisement\?"):
        rules("dual-advertisment")


def test_rules_are_printed_as_admission_policies(capsys: pytest.CaptureFixture[str]):
    rules(admission=True)
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    policies = [item for item in printed if item["kind"] == "ValidatingAdmissionPolicy"]
    assert len(policies) == len([entry for entry in BOOK if "admission" in entry.prevents])
    rules("dual-advertisement", admission=True)
    assert "name: aksgpu-dual-advertisement" in capsys.readouterr().out


def test_a_rule_without_a_policy_says_so():
    with pytest.raises(AksgpuError, match="pool-name can't be decided from one Kubernetes object"):
        rules("pool-name", admission=True)
