"""The generated pages in the repository are current."""

import re
from pathlib import Path

from ruamel.yaml import YAML

from aksgpu import docs
from aksgpu.rules import examples
from aksgpu.rules.book import BOOK

FOLDER = Path(__file__).parents[3] / "docs"


def test_the_committed_pages_are_the_generated_ones():
    stale = [name for name, text in docs.pages().items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run `make docs`"


def test_every_rule_has_a_page_and_no_page_is_left_over():
    assert {path.stem for path in (FOLDER / "rules").glob("*.md")} == {rule.name for rule in BOOK} | {"README"}


def test_every_example_shows_what_it_is_about():
    """Whatever an example is made of stands in its page, also when examples learn to say more."""
    for rule in BOOK:
        page = docs.rule_page(rule)
        blocks = [YAML(typ="safe").load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
        written = YAML(typ="safe").load(examples.path_of(rule))
        assert blocks == [{key: entry[key] for key in entry if key not in ("title", "verdict")} for entry in written]
        assert all(blocks), rule.name


def test_pages_of_rules_that_are_gone_are_removed(tmp_path: Path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "gone.md").write_text("old")
    docs.main(tmp_path)
    assert not (tmp_path / "rules" / "gone.md").exists()
    assert (tmp_path / "settings.md").exists()
