"""Values of charts: from files and the command line, and from Helm releases of programs."""

from pathlib import Path
from typing import Any

import pytest

from aksgpu.errors import AksgpuError
from aksgpu.facts.base import Place
from aksgpu.facts.stack import StackComponent
from aksgpu.facts.truth import UNKNOWN
from aksgpu.knowledge.stack_values import CHARTS, VALUES
from aksgpu.readers import pulumi_files
from aksgpu.readers.kube_objects import read_object
from aksgpu.readers.pulumi_resources import PulumiResource, read
from aksgpu.readers.set_values import parse
from aksgpu.readers.values import read_stack, read_values

OP, DRA = "gpu-operator", "nvidia-dra-driver-gpu"


def component(values: list[str], sets: list[str] | None = None) -> StackComponent:
    reading = read_values(values, sets or [], "")
    assert reading.unreadable == ()
    return reading.estate.stacks[0].components[0]


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.mark.parametrize("text", ["", "---\n", "# nothing\n", "{}", "null\n"])
def test_an_empty_file_is_the_chart_with_its_defaults(tmp_path: Path, text: str):
    found = component([f"{OP}={write(tmp_path, 'v.yaml', text)}"])
    assert (found.enabled, found.flags, found.texts, found.malformed) == (True, {}, {}, ())


def test_files_are_laid_over_each_other_and_single_values_over_them(tmp_path: Path):
    first = write(tmp_path, "a.yaml", "driver: {enabled: true, rdma: {useHostMofed: true}}\ntoolkit: {enabled: true}\n")
    second = write(tmp_path, "b.yaml", "driver: {enabled: false}\n")
    found = component([f"{OP}={first}", f"{OP}={second}"], [f"{OP}:toolkit.enabled=false"])
    assert found.flags == {"driver.enabled": False, "driver.rdma.useHostMofed": True, "toolkit.enabled": False}
    assert found.place.file == second
    where = {path: found.at(path).file for path in ("driver.enabled", "driver.rdma.useHostMofed", "toolkit.enabled")}
    assert where == {"driver.enabled": second, "driver.rdma.useHostMofed": first, "toolkit.enabled": None}


def test_single_values_alone_make_a_component():
    found = component([], [f"{DRA}:resources.gpus.enabled=true"])
    assert (found.name, found.flags) == (DRA, {"resources.gpus.enabled": True})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=true", True),
        ("a=False", False),
        ("a=null", None),
        ("a=0", 0),
        ("a=-12", -12),
        ("a=007", "007"),
        ("a=1.5", "1.5"),
        ("a=yes", "yes"),
        ("a=", ""),
        ("a=x=y", "x=y"),
        (r"a=x\,y", "x,y"),
        ("a={x,1,true}", ["x", 1, True]),
        ("a={}", []),
    ],
)
def test_single_values_are_typed_as_helm_types_them(text: str, value: object):
    given = parse(f"{OP}:{text}").value
    assert given == value
    assert type(given) is type(value)


def test_paths_of_single_values():
    assert parse(rf"{DRA}:kubeletPlugin.nodeSelector.nvidia\.com/gpu=x").path == (
        "kubeletPlugin", "nodeSelector", "nvidia.com/gpu",
    )  # fmt: skip
    sets = [f"{OP}:toolkit.env[1].name=A", f"{OP}:toolkit.env[1].value=b", f"{OP}:toolkit.env[0].name=B"]
    assert component([], sets).lists == {"toolkit.env": ({"name": "B"}, {"name": "A", "value": "b"})}


def test_a_single_value_replaces_what_is_in_its_way(tmp_path: Path):
    file = write(tmp_path, "v.yaml", "driver: oops\n")
    assert component([f"{OP}={file}"], [f"{OP}:driver.enabled=false"]).flags == {"driver.enabled": False}


@pytest.mark.parametrize(
    ("word", "enabled"), [("true", True), ("1", True), ("false", False), ("0", False), ("F", False)]
)
def test_components_are_switched(word: str, enabled: bool):
    assert component([], [f"{OP}:enabled={word}"]).enabled is enabled


def test_the_values_of_what_is_switched_off_are_never_read(tmp_path: Path):
    file = write(tmp_path, "v.yaml", "driver: 5\ndevicePlugin: {enabled: 'yes'}\n")
    reading = read_values([f"{OP}={file}"], [f"{OP}:enabled=false"], "")
    found = reading.estate.stacks[0].components[0]
    assert (found.flags, found.malformed, reading.estate.components) == ({}, (), ())


@pytest.mark.parametrize(
    ("values", "sets", "says"),
    [
        (["gpu-operator"], [], "COMPONENT=FILE"),
        (["gpu-operator="], [], "COMPONENT=FILE"),
        (["gpuoperator=x.yaml"], [], "Did you mean gpu-operator?"),
        (["GPU-Operator=x.yaml"], [], "Did you mean gpu-operator?"),
        (["dra-driver-nvidia-gpu=x"], [], "Did you mean nvidia-dra-driver-gpu?"),
        (["nginx=x.yaml"], [], "The components are gpu-operator, "),
        ([], ["gpu-operator"], "COMPONENT:key.path=value"),
        ([], ["gpu-operator:driver.enabled"], "COMPONENT:key.path=value"),
        ([], [":a=b"], "COMPONENT:key.path=value"),
        ([], ["gpu-operator:=b"], "COMPONENT:key.path=value"),
        ([], ["gpu-operator:a..b=1"], "no path of keys"),
        ([], ["gpu-operator:a.=1"], "no path of keys"),
        ([], ["gpu-operator:a[x]=1"], "no path of keys"),
        ([], ["gpu-operator:a[99999]=1"], "at most 1000"),
        ([], ["gpu-operator:a=1,b=2"], "once for each value"),
        ([], ["gpu-operator:enabled=maybe"], "true or false"),
        ([], ["dradriver:enabled=true"], "Did you mean nvidia-dra-driver-gpu?"),
    ],
)
def test_bad_usage_is_one_clear_sentence(values: list[str], sets: list[str], says: str):
    with pytest.raises(AksgpuError) as refused:
        read_values(values, sets, "")
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: b: c\n", 1), ("a: 1\n\tb: 2\n", 2), ("- a\n", 1), ("a: 1\n---\nb: 2\n", 3), ("just text\n", 1)],
)
def test_what_is_no_values_file_is_unreadable_with_its_line(tmp_path: Path, text: str, line: int):
    file = write(tmp_path, "v.yaml", text)
    reading = read_values([f"{OP}={file}"], [], "")
    assert [(item.file, item.line) for item in reading.unreadable] == [(file, line)]


def test_a_file_that_is_not_there_leaves_its_values_unknown_and_the_rest_readable(tmp_path: Path):
    reading = read_values([f"{OP}={tmp_path / 'none.yaml'}"], [f"{OP}:driver.enabled=false", f"{DRA}:enabled=true"], "")
    operator, driver = reading.estate.stacks[0].components
    assert len(reading.unreadable) == 1
    assert operator.flags["driver.enabled"] is False
    assert operator.flags["devicePlugin.enabled"] is UNKNOWN
    assert driver.flags == {}


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"driver": {"enabled": "true"}}, "driver.enabled"),
        ({"driver": {"enabled": 1}}, "driver.enabled"),
        ({"driver": "on"}, "driver"),
        ({"driver": []}, "driver"),
        ({"hostPaths": {"driverInstallDir": 5}}, "hostPaths.driverInstallDir"),
        ({"toolkit": {"env": {"name": "A"}}}, "toolkit.env"),
        ({"driver": {"rdma": {"useHostMofed": "no"}}}, "driver.rdma.useHostMofed"),
        ("text", "the whole value"),
    ],
)
def test_malformed_values_are_named_with_their_exact_path(values: Any, path: str):
    found = read_stack({OP: values}).stacks[0].components[0]
    assert [item.path for item in found.malformed] == [path]


@pytest.mark.parametrize(
    ("values", "nulls"),
    [
        ({"driver": None}, ("driver",)),
        ({"driver": {"enabled": None}}, ("driver.enabled",)),
        ({"driver": {}, "other": None}, ()),
    ],
)
def test_null_is_absent_and_remembered(values: Any, nulls: tuple[str, ...]):
    found = read_stack({OP: values}).stacks[0].components[0]
    assert (found.flags, found.malformed, found.nulls) == ({}, (), nulls)


def release(**props: Any) -> list[StackComponent]:
    estate = read(PulumiResource("kubernetes:helm.sh/v3:Release", "urn::x", props))
    return [item for stack in estate.stacks for item in stack.components]


def test_every_known_chart_of_a_program_is_a_component_of_a_stack():
    for chart, name in CHARTS.items():
        found = release(chart=f"oci://registry.example.com/charts/{chart}:1.2.3")
        assert [(item.name, item.enabled) for item in found] == [(name, True)]
    assert set(CHARTS.values()) == set(VALUES)
    assert release(chart="nvidia-device-plugin") == []


def test_values_files_of_a_release_count_like_its_values():
    assets = [{"text": "driver: {enabled: false}\n"}, {"text": "toolkit: {enabled: false}\n"}]
    found = release(chart=OP, valueYamlFiles=assets, values={"toolkit": {"enabled": True}})[0]
    assert found.flags == {"driver.enabled": False, "toolkit.enabled": True}


@pytest.mark.parametrize("values", [UNKNOWN, {"driver": UNKNOWN}, {"driver": {"enabled": UNKNOWN}}])
def test_unknown_values_of_a_release_stay_unknown(values: Any):
    assert release(chart=OP, values=values)[0].flags["driver.enabled"] is UNKNOWN


def test_a_chart_can_not_be_switched_off_by_a_word_in_its_own_values():
    found = release(chart=OP, values={"enabled": False, "driver": {"enabled": False}})[0]
    assert (found.enabled, found.flags) == (True, {"driver.enabled": False})


@pytest.mark.parametrize("asset", [{"text": "a: [\n"}, {"text": "a: 1\n---\nb: 1\n"}, {"path": "/nowhere/values.yaml"}])
def test_a_values_file_that_can_not_be_read_is_malformed_and_not_empty(asset: Any):
    found = release(chart=OP, valueYamlFiles=[asset])[0]
    assert [item.path for item in found.malformed] == ["valueYamlFiles[0]"]
    assert found.flags["driver.enabled"] is UNKNOWN


@pytest.mark.parametrize(
    ("switch", "enabled"), [({}, True), ({"enabled": True}, True), ({"enabled": UNKNOWN}, UNKNOWN)]
)
def test_a_chart_that_another_one_brings_is_seen_by_its_values(switch: dict[str, Any], enabled: Any):
    values = {OP: {"driver": {"enabled": False}, **switch}, "ingress-nginx": {"driver": 1}}
    found = release(chart="oci://registry.example.com/platform", values=values)
    assert [(item.name, item.enabled, item.flags) for item in found] == [(OP, enabled, {"driver.enabled": False})]


def test_values_are_found_where_they_are_written():
    flux = {
        "metadata": {"name": "gpus"},
        "spec": {"chart": {"spec": {"chart": OP}}, "values": {"driver": {"enabled": False}}},
    }
    place = Place(object="HelmRelease gpus", path="items[2]")
    found = read_object("helm.toolkit.fluxcd.io/v2", "HelmRelease", flux, place).stacks[0].components[0]
    assert found.at("driver.enabled").path == "items[2].spec.values.driver.enabled"
    policy = {"metadata": {"name": "x"}, "spec": {"driver": {"enabled": False}}}
    found = read_object("nvidia.com/v1", "ClusterPolicy", policy, place).stacks[0].components[0]
    assert found.at("driver.enabled").path == "items[2].spec.driver.enabled"
    assert release(chart=OP)[0].at("driver.enabled").path == "values.driver.enabled"
    assert release(chart="platform", values={OP: {}})[0].at("driver.enabled").path == f"values.{OP}.driver.enabled"


def test_a_chart_that_another_one_could_bring_and_does_not():
    assert release(chart="platform", values={OP: {"enabled": False}}) == []


def test_a_chart_in_a_folder_is_what_it_says_and_brings_what_it_says(tmp_path: Path):
    write(tmp_path, "Chart.yaml", "name: gpu-operator\nversion: 1.0.0\n")
    assert [item.name for item in release(chart=str(tmp_path))] == [OP]
    dependencies = (
        "dependencies:\n"
        "- {name: gpu-operator, alias: gpus, condition: 'gpus.on, global.gpus'}\n"
        "- {name: dra-driver-nvidia-gpu, condition: claims.enabled}\n"
        "- {name: ingress-nginx}\n"
    )
    write(tmp_path, "Chart.yaml", f"name: platform\nversion: 1.0.0\n{dependencies}")
    write(tmp_path, "values.yaml", "claims: {enabled: false}\ngpus: {driver: {enabled: false}}\n")
    found = release(chart=str(tmp_path), values={"gpus": {"toolkit": {"enabled": False}}})
    assert [(item.name, item.flags) for item in found] == [(OP, {"driver.enabled": False, "toolkit.enabled": False})]
    switched = {"claims": {"enabled": True}, "gpus": {"on": False}}
    assert [item.name for item in release(chart=str(tmp_path), values=switched)] == [DRA]


def test_a_preview_shows_where_a_value_is_and_what_it_was():
    def state(tuning: bool) -> dict[str, Any]:
        inputs = {"chart": "./nodewright-customizations", "values": {"tuningEnabled": tuning}}
        return {"urn": "urn::hosts", "type": "kubernetes:helm.sh/v4:Chart", "inputs": inputs}

    step = {"op": "update", "urn": "urn::hosts", "oldState": state(True), "newState": state(False)}
    estate = pulumi_files.read({"steps": [step], "changeSummary": {}}, "preview.json").estate
    change = estate.stack_changes[0]
    assert (change.before.flags, change.after.flags) == ({"tuningEnabled": True}, {"tuningEnabled": False})
    place = estate.stacks[0].components[0].place
    assert (place.object, place.file, place.path) == ("urn::hosts", "preview.json", "steps[0].newState.inputs.values")
