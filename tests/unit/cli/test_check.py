"""The command `aksgpu check`: options, exit codes, and what it prints."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from aksgpu.cli import command_line, main
from aksgpu.errors import AksgpuError

PLUGIN = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: plugin, namespace: kube-system}
spec:
  template:
    spec:
      containers: [{name: plugin, image: nvcr.io/nvidia/k8s-device-plugin:v0.17.0}]
"""
"""On an AKS-managed pool, a second advertiser."""
POOLS = [
    {
        "id": "/subscriptions/0/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
        "/agentPools/gpunp",
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "name": "gpunp",
        "vmSize": "Standard_NC24ads_A100_v4",
        "gpuProfile": {"nvidia": {"managementMode": "Managed", "driverMode": "DRA"}},
        "orchestratorVersion": "1.35",
        "nodeTaints": ["sku=gpu:PreferNoSchedule"],
    }
]
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
MISSING_TAINT = "no-gpu-taint"
"""A rule of severity warning."""


class Done(NamedTuple):
    code: int
    output: str
    errors: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.output)


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    for name, text in {"plugin.yaml": PLUGIN, "pools.json": json.dumps(POOLS), "service.yaml": SERVICE}.items():
        (tmp_path / name).write_text(text)

    def run(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(["check", *arguments])
        printed = capsys.readouterr()
        return Done(int(str(ended.value.code)), printed.out, printed.err)

    return run


def names(done: Done) -> set[str]:
    return {finding["name"] for finding in done.json["findings"]}


def test_good_files_are_0(check: Any):
    done = check("service.yaml")
    assert (done.code, done.output) == (0, "1 file checked: 0 errors, 0 warnings.\n")


def test_a_broken_rule_is_1_and_names_file_line_and_fix(check: Any):
    done = check("pools.json", "plugin.yaml")
    assert done.code == 1
    assert "plugin.yaml:1: error AKSGPU301 dual-advertisement: " in done.output
    assert "\n    Fix: " in done.output
    assert done.output.splitlines()[-1].startswith("2 files checked: ")


def test_what_cannot_be_read_is_2_although_a_rule_is_broken_too(check: Any):
    done = check("pools.json", "plugin.yaml", "nope.yaml", "--format", "json")
    assert done.code == 2
    assert "dual-advertisement" in names(done)
    assert done.json["unreadable"] == [
        {"file": "nope.yaml", "line": None, "message": "There is no such file or folder."}
    ]


def test_json_has_the_promised_keys_in_the_promised_order(check: Any):
    done = check(".", "--format", "json")
    findings = done.json["findings"]
    assert done.json["allocation"] is None
    assert findings == sorted(findings, key=lambda item: (item["file"] or "", item["line"] or 0, item["rule"]))
    assert {finding["file"] for finding in findings} <= {"./plugin.yaml", "./pools.json", "plugin.yaml", "pools.json"}


def test_warnings_are_0_unless_they_shall_fail(check: Any):
    only = ("pools.json", "--select", MISSING_TAINT)
    assert check(*only, "--format", "json").json["findings"][0]["severity"] == "warning"
    assert check(*only).code == 0
    assert check(*only, "--fail-on", "warning").code == 1


@pytest.mark.parametrize(
    "options",
    [
        ["pools.json", "plugin.yaml", "--select", "dual-advertisement", "--select", "AKSGPU001"],
        ["--select", "dual-advertisement,malformed-value", "pools.json", "plugin.yaml"],
        ["pools.json", "plugin.yaml", "--select", "AKSGPU001", "Dual-Advertisement"],
        ["--select", "aksgpu301", "pools.json", "plugin.yaml"],
    ],
)
def test_only_selected_rules_are_asked(check: Any, options: list[str]):
    done = check(*options, "--format", "json")
    assert names(done) == {"dual-advertisement"}
    assert done.code == 1


def test_ignored_rules_are_not_asked(check: Any):
    everything = names(check(".", "--format", "json"))
    less = names(check(".", "--ignore", "dual-advertisement", "--format", "json"))
    assert everything - less == {"dual-advertisement"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Say what to check"),
        (["service.yaml", "--select", "dual-advertisment"], "Did you mean dual-advertisement?"),
        (["service.yaml", "--ignore", "AKSGPU30l"], "There is no rule"),
        (["service.yaml", "--select", "AKSGPU301", "--ignore", "dual-advertisement"], "no rule is left"),
        (["service.yaml", "--cluster-version", "35"], "such as 1.35"),
        (["service.yaml", "--cluster-version", "2.0"], "such as 1.35"),
        (["--values", "gpu-operator"], "COMPONENT=FILE"),
        (["--values", "gpu-operater=a.yaml"], "gpu-operator"),
    ],
)
def test_bad_usage_is_2_with_the_way_out(check: Any, arguments: list[str], words: str):
    done = check(*arguments)
    assert done.code == 2
    assert words in done.errors
    assert "Traceback" not in done.errors


@pytest.mark.parametrize("arguments", [["--format", "xml"], ["--fail-on", "info"], ["--nope"]])
def test_options_that_are_not_there_are_2(check: Any, arguments: list[str]):
    assert check("service.yaml", *arguments).code == 2


def test_standard_input_is_checked(check: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PLUGIN.encode())))
    done = check("-", "pools.json", "--format", "json")
    found = [finding for finding in done.json["findings"] if finding["name"] == "dual-advertisement"]
    assert [(finding["file"], finding["line"]) for finding in found] == [("-", 1)]


def test_the_version_of_the_cluster_counts_where_no_file_says_it(check: Any, tmp_path: Path):
    pool = {key: value for key, value in POOLS[0].items() if key != "orchestratorVersion"}
    (tmp_path / "pools.json").write_text(json.dumps([pool]))
    assert "dra-cluster-version" in names(check("pools.json", "--cluster-version", "1.34.2", "--format", "json"))
    for version in ("1.35", "v1.36.1"):
        done = check("pools.json", "--cluster-version", version, "--format", "json")
        assert "dra-cluster-version" not in names(done)


def test_values_give_the_allocation(check: Any, tmp_path: Path):
    (tmp_path / "operator.yaml").write_text("devicePlugin: {enabled: false}\n")
    values = ("--values", "gpu-operator=operator.yaml")
    sets = ("--set", "nvidia-dra-driver-gpu:resources.gpus.enabled=true")
    sets += ("--set", "nvidia-dra-driver-gpu:gpuResourcesEnabledOverride=true")
    done = check(*values, *sets, "--format", "json")
    assert done.json["allocation"]["verdict"] == "ok"
    assert done.json["allocation"]["policy"] == "dra-resource-claim"
    both = check(*values, *sets, "--set", "gpu-operator:devicePlugin.enabled=true", "--format", "json")
    assert (both.code, both.json["allocation"]["policy"]) == (1, None)
    assert both.json["allocation"]["verdict"] == "dual-advertisement"
    assert "dual-advertisement" in names(both)


def test_an_unreadable_values_file_is_2(check: Any):
    done = check("--values", "gpu-operator=nope.yaml", "--format", "json")
    assert done.code == 2
    assert [item["file"] for item in done.json["unreadable"]] == ["nope.yaml"]


def test_every_format_tells_the_same(check: Any):
    from tests.unit.reporters.test_sarif import SCHEMA

    expected = len(check(".", "--format", "json").json["findings"])
    sarif = check(".", "--format", "sarif")
    jsonschema.Draft4Validator(SCHEMA).validate(sarif.json)
    assert len(sarif.json["runs"][0]["results"]) == expected
    assert check(".", "--format", "junit").output.startswith("<testsuites")
    text = check(".").output
    assert text.count("\n    Fix: ") == expected


def test_help_names_every_option_with_examples(check: Any):
    done = check("--help")
    for option in (
        "--values", "--set", "--advertiser", "--cluster-version", "--format", "--select", "--ignore", "--fail-on",
        "aksgpu check manifests/",
    ):  # fmt: skip
        assert option in done.output


def test_a_mistake_is_an_error_of_ours():
    with pytest.raises(AksgpuError):
        command_line()(["check"], exit_on_error=False, result_action="return_value")


def test_the_command_loads_neither_pulumi_nor_azure():
    code = (
        "import sys; from aksgpu.cli import main\n"
        "try: main(['check', '.'])\nexcept SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & "
        "{'pulumi', 'pulumi_policy', 'azure', 'rich', 'ruamel', 'httpx2', 'lightkube'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="docs")
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_overview_is_made_without_a_library():
    code = (
        "import sys; from aksgpu.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'cyclopts', 'pydantic', 'rich', 'attrs'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
