import pytest

from twin.azure_native import metadata as module
from twin.errors import TwinError


def test_it_is_extracted_once_and_read_afterwards(tmp_path, monkeypatch):
    monkeypatch.setenv("AKSGPU_CACHE_HOME", str(tmp_path))
    first = module.load()
    (file,) = (tmp_path / "azure-native").iterdir()
    assert file == module.file()
    monkeypatch.setattr(module, "write", lambda _: pytest.fail("extracted again"))
    assert module.load().versions("containerservice") == first.versions("containerservice")


def test_a_folder_that_can_not_be_written_is_one_paragraph(tmp_path, monkeypatch):
    (tmp_path / "azure-native").write_text("in the way")
    monkeypatch.setenv("AKSGPU_CACHE_HOME", str(tmp_path))
    with pytest.raises(TwinError, match="AKSGPU_CACHE_HOME"):
        module.load()


def test_a_changed_api_table_gets_a_new_file(tmp_path, monkeypatch):
    changed = tmp_path / "api_versions.py"
    changed.write_text("FIELDS = {}")
    before = module.file()
    monkeypatch.setattr(module, "_SOURCES", (*module._SOURCES[:-1], changed))
    assert module.file() != before


def test_versions_of_a_module(metadata):
    versions = metadata.versions("containerservice")
    assert versions == sorted(versions)
    assert versions[-1] == "2026-05-02-preview"
    assert metadata.versions("compute") == []
