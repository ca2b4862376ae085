"""Files and folders: what is read, what is passed over, what is refused and where."""

import io
import itertools
import json
import os
import threading
from pathlib import Path

import pytest

from aksgpu.facts.base import Place
from aksgpu.readers.documents import documents
from aksgpu.readers.files import read
from aksgpu.readers.lines import Lines
from aksgpu.readers.reading import Reading
from aksgpu.readers.yaml_trees import Problem

PLUGIN = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: plugin
  namespace: kube-system
spec:
  template:
    spec:
      containers:
        - name: plugin
          image: nvcr.io/nvidia/k8s-device-plugin:v0.17.0
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"


def one(tmp_path: Path, text: str | bytes, name: str = "a.yaml") -> Reading:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read([str(file)])


def refusal(reading: Reading) -> tuple[int | None, str]:
    assert len(reading.unreadable) == 1, reading.unreadable
    return reading.unreadable[0].line, reading.unreadable[0].message


def places(reading: Reading) -> list[Place]:
    return [component.place for component in reading.estate.components]


def test_a_manifest_is_named_by_kind_namespace_and_name(tmp_path: Path):
    reading = one(tmp_path, f"{SERVICE}---\n{PLUGIN}---\n")
    assert [(place.object, place.document) for place in places(reading)] == [("DaemonSet kube-system/plugin", 1)]
    assert (reading.files, reading.passed_over, reading.unreadable) == (1, 0, ())


@pytest.mark.parametrize("kind", ["List", "DaemonSetList"])
def test_the_objects_of_a_list_are_read(tmp_path: Path, kind: str):
    item = PLUGIN if kind == "List" else PLUGIN.replace("apiVersion: apps/v1\nkind: DaemonSet\n", "")
    indented = item.replace("\n", "\n    ").rstrip()
    version = "v1" if kind == "List" else "apps/v1"
    text = f"apiVersion: {version}\nkind: {kind}\nitems:\n  - metadata: {{name: x}}\n  - {indented}\n"
    reading = one(tmp_path, text)
    assert [place.path for place in places(reading)] == ["items[1]"]
    assert Lines(reading.texts).locate(places(reading)[0]).line == 5


def test_json_is_read_whatever_its_name_is(tmp_path: Path):
    item: dict[str, object] = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "p"}}
    item |= {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nvidia/k8s-device-plugin"}]}}}}
    assert len(one(tmp_path, json.dumps(item)).estate.components) == 1
    assert len(one(tmp_path, json.dumps(item) + "\n" + json.dumps(item)).estate.components) == 2


def test_a_bad_document_does_not_hide_the_others(tmp_path: Path):
    reading = one(tmp_path, f"{SERVICE}---\na: b: c\n---\n{PLUGIN}")
    assert len(reading.estate.components) == 1
    assert refusal(reading) == (5, "This is not valid YAML: mapping values are not allowed in this context.")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("metadata:\n  name: {{ .Values.name }}\n", 2, "helm template"),
        ("{{- if .Values.gpu }}\napiVersion: v1\n{{- end }}\n", 1, "helm template"),
        ("a: 1\nb: 2\na: 3\n", 3, "'a' is written twice"),
        ('{"a": {"b": 1,\n"b": 2}}', 1, "'b' is written twice"),
        ("a: \x07\n", 1, "control characters"),
        ("a: &x [*x]\n", 1, "refers to itself"),
        ("a: " + "[" * 300 + "]" * 300, 1, "levels deep"),
        ("[" * 5000, 1, "nested too deep"),
        ("- " * 5000 + "a", 1, "not valid YAML"),
        ("a: !!int no\n", 1, "no int"),
        ("replicas: " + "9" * 5000 + "\n", 1, "no int"),
        (b"\xff\xfe\xfd", 1, "UTF-8"),
        (b"a: \xe9\n", 1, "UTF-8"),
        (b"a\0b", None, "NUL"),
        ("", None, "nothing in it"),
        ("driver:\n  enabled: false\n", None, "--values gpu-operator="),
        ("- 1\n- 2\n", None, "neither a Kubernetes manifest"),
    ],
    ids=lambda value: None if isinstance(value, int) else str(value)[:20],
)
def test_what_cannot_be_read_says_where_and_the_way_out(
    tmp_path: Path, text: str | bytes, line: int | None, words: str
):
    found, message = refusal(one(tmp_path, text))
    assert words in message
    assert found == line


def test_references_that_blow_up_are_refused(tmp_path: Path):
    names = "abcdefghij"
    lines = [f"a: &a [{', '.join('x' * 9)}]"]
    lines += [f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in itertools.pairwise(names)]
    assert "far bigger" in refusal(one(tmp_path, "\n".join(lines)))[1]


def test_a_kustomization_says_how_to_check_what_it_makes(tmp_path: Path):
    message = refusal(one(tmp_path, "resources: [a.yaml]\n", "kustomization.yaml"))[1]
    assert f"kustomize build {tmp_path}" in message


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_of_an_encoding_are_understood(tmp_path: Path, encoding: str):
    assert len(one(tmp_path, PLUGIN.encode(encoding)).estate.components) == 1


def test_windows_line_ends_are_understood(tmp_path: Path):
    reading = one(tmp_path, f"{SERVICE}---\n{PLUGIN}".replace("\n", "\r\n"))
    assert Lines(reading.texts).locate(places(reading)[0]).line == 5


def test_scalars_are_those_of_kubernetes():
    text = (
        "{a: 2024-01-01, b: 12:30, c: =, d: yes, e: 010, f: 0x1F, g: 1e3, h: ~, i: '1', 1: x, on: y, j: !Ref z, k: .5}"
    )
    (document,) = documents(text)
    assert document.data == {
        "a": "2024-01-01", "b": "12:30", "c": "=", "d": True, "e": 8, "f": 31, "g": 1000.0, "h": None, "i": "1",
        "1": "x", "true": "y", "j": "z", "k": 0.5,
    }  # fmt: skip


def test_keys_are_merged_and_the_nearest_wins():
    (document,) = documents("x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], c: 3}\n")
    assert document.data == {"x": {"a": 1, "b": 1}, "y": {"b": 2, "c": 2}, "z": {"a": 1, "b": 1, "c": 3}}


def test_documents_are_counted_as_they_are_written():
    text = "# c\n%YAML 1.1\n---\na: 1\n--- {b: 2}\n---\nx: : :\n--- |\n  text\n"
    found = list(documents(text))
    assert [(document.index, isinstance(document.data, Problem)) for document in found] == [
        (0, False), (1, False), (2, True), (3, False),
    ]  # fmt: skip
    assert [document.data for document in found if not isinstance(document.data, Problem)] == [
        {"a": 1}, {"b": 2}, "text\n",
    ]  # fmt: skip


def folder(tmp_path: Path) -> Path:
    for name, text in {
        "a.yaml": PLUGIN,
        "deep/er/b.yml": PLUGIN,
        "c.json": '{"name": "package"}',
        "values.yaml": "driver: {enabled: false}\n",
        "broken.yaml": "a: b: c\n",
        "notes.txt": "a: b: c",
        ".git/d.yaml": PLUGIN,
        "node_modules/e.yaml": PLUGIN,
        "environment/pyvenv.cfg": "",
        "environment/f.yaml": PLUGIN,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_folder_is_read_and_what_is_not_meant_is_counted(tmp_path: Path):
    reading = read([str(folder(tmp_path))])
    assert [place.file for place in places(reading)] == [str(tmp_path / "a.yaml"), str(tmp_path / "deep/er/b.yml")]
    assert (reading.files, reading.passed_over, reading.unreadable) == (5, 3, ())


def test_a_broken_manifest_in_a_folder_is_not_passed_over(tmp_path: Path):
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: b: c\n")
    assert refusal(read([str(tmp_path)]))[0] == 2


def test_links_are_followed_but_never_in_circles(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.yaml").write_text(PLUGIN)
    (tmp_path / "in" / "up").symlink_to(tmp_path)
    (tmp_path / "again.yaml").symlink_to(tmp_path / "in" / "a.yaml")
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "gone.yaml")
    reading = read([str(tmp_path), str(tmp_path / "in")])
    assert len(reading.estate.components) == 1
    assert [item.file for item in reading.unreadable] == [str(tmp_path / "dangling.yaml")]


def test_a_path_that_is_not_there_is_named(tmp_path: Path):
    assert refusal(read([str(tmp_path / "nope")])) == (None, "There is no such file or folder.")


def test_a_device_is_refused():
    assert "neither a file nor a pipe" in refusal(read(["/dev/zero"]))[1]


def test_a_pipe_is_read(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[PLUGIN])
    writer.start()
    reading = read([str(pipe)])
    writer.join()
    assert Lines(reading.texts).locate(places(reading)[0]).line == 1


def test_standard_input_is_read_once_and_has_lines(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"\n{PLUGIN}".encode())))
    reading = read(["-", "-"])
    assert [place.file for place in places(reading)] == ["-"]
    assert Lines(reading.texts).locate(places(reading)[0]).line == 2


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("spec.template.spec.containers[0].image", 11),
        ("spec.template.spec.containers[0]", 10),
        ("spec.template.spec.containers[7].image", 9),
        ("spec.nowhere.at[0].all", 6),
        ("metadata.namespace", 5),
        (None, 1),
    ],
)
def test_a_path_leads_to_its_line_or_the_nearest(tmp_path: Path, path: str | None, line: int):
    place = places(one(tmp_path, PLUGIN))[0]
    assert Lines({place.file or "": PLUGIN}).locate(place.at(path) if path else place).line == line


def test_keys_may_hold_dots_and_slashes():
    text = "limits:\n  nvidia:\n    com: 1\n  nvidia.com/gpu: 1\n  a.b: {c: 1,\n    d.e: 2}\n"
    lines = Lines({"f": text})
    for path, line in [("limits.nvidia.com/gpu", 4), ("limits.nvidia.com", 3), ("limits.a.b.d.e", 6)]:
        assert lines.locate(Place(object="x", file="f", document=0, path=path)).line == line


def test_progress_counts_files(tmp_path: Path):
    steps: list[tuple[int, int]] = []
    read([str(folder(tmp_path))], lambda done, total: steps.append((done, total)))
    assert steps == [(number, 5) for number in range(1, 6)]
