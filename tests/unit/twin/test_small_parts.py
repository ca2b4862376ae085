import json
import stat
from pathlib import Path

import pytest
import yaml

from twin import faults, kubeconfig
from twin.errors import TwinError
from twin.files import replace_text
from twin.paths import TwinFolder


@pytest.mark.parametrize("name", ["", "A", "-x", "a" * 32, "a/b", "..", "a.b", "a b"])
def test_a_name_that_cannot_be_a_folder_is_refused(name: str) -> None:
    with pytest.raises(TwinError, match="can't be the name of a twin"):
        TwinFolder.of(name)


def test_replace_text_is_private_and_leaves_no_scratch_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    replace_text(file, "one")
    replace_text(file, "two")
    assert file.read_text() == "two"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


class TestFaults:
    def test_on_and_off_again(self, tmp_path: Path) -> None:
        file = tmp_path / "faults.json"
        assert faults.active(file) == {}
        faults.switch(file, "arm-slow", "2", on=True)
        faults.switch(file, "no-slices", None, on=True)
        assert faults.active(file) == {"arm-slow": "2", "no-slices": None}
        faults.switch(file, "arm-slow", None, on=False)
        assert json.loads(file.read_text()) == {"no-slices": None}

    @pytest.mark.parametrize(
        ("name", "argument", "told"),
        [
            ("nonsense", None, "There is no fault 'nonsense'"),
            ("arm-500", "3", "takes no argument"),
            ("arm-slow", None, "needs seconds"),
            ("arm-slow", "fast", "not a number of seconds"),
            ("arm-slow", "nan", "not a number of seconds"),
            ("arm-slow", "-1", "not a number of seconds"),
        ],
    )
    def test_nonsense_is_refused_and_nothing_is_switched(
        self, tmp_path: Path, name: str, argument: str | None, told: str
    ) -> None:
        file = tmp_path / "faults.json"
        with pytest.raises(TwinError, match=told):
            faults.switch(file, name, argument, on=True)
        assert not file.exists()


def _one(server: str) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


def test_merged_kubeconfig_has_a_context_per_cluster() -> None:
    merged = kubeconfig.parse(kubeconfig.merge({"a": _one("https://a"), "b": _one("https://b")}))
    assert merged["current-context"] == "a"
    assert {c["name"]: c["cluster"]["server"] for c in merged["clusters"]} == {"a": "https://a", "b": "https://b"}
    assert [c["context"] for c in merged["contexts"]] == [{"cluster": "a", "user": "a"}, {"cluster": "b", "user": "b"}]


def test_no_cluster_gives_a_kubeconfig_that_kubectl_accepts() -> None:
    assert kubeconfig.parse(kubeconfig.merge({}))["current-context"] == ""
