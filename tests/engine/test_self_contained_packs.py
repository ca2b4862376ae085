"""The packs away from the checkout: an empty folder, an environment of their own, the same result."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RunningTwin
from tests.engine.analyze import CHECKOUT, PACKS, analyze
from tests.engine.example_state import state_of
from tests.unit.rules.book_examples import CASES

UV = os.environ.get("UV", "uv")


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Both packs, built elsewhere and with one environment, as `pulumi install` makes it."""
    target = tmp_path_factory.mktemp("away")
    code = "import sys; from pathlib import Path; from build import build; build(Path(sys.argv[1]))"
    paths = os.pathsep.join(str(path) for path in (CHECKOUT / "policies", CHECKOUT))
    subprocess.run([sys.executable, "-c", code, target], check=True, env={**os.environ, "PYTHONPATH": paths})
    first, second = (target / "aksgpu-guardrails", target / "aksgpu-advice")
    subprocess.run([UV, "venv", "--quiet", first / "venv"], check=True, cwd=target)
    install = [UV, "pip", "install", "--quiet", "--python", first / "venv", "-r", first / "requirements.txt"]
    # Everything is in uv's cache, unless somebody emptied it.
    if subprocess.run([*install, "--offline"], check=False, cwd=target).returncode:
        subprocess.run(install, check=True, cwd=target)
    (second / "venv").symlink_to(first / "venv")
    return [first, second]


def test_they_say_the_same_as_in_the_checkout(twin: RunningTwin, packs: list[Path], tmp_path: Path):
    state = state_of([(index, example) for index, (_, example) in enumerate(CASES[::4])])
    away = analyze(twin, state, tmp_path, packs)
    assert len(away) >= 60
    assert sorted(away) == sorted(analyze(twin, state, tmp_path, PACKS))


def test_they_hold_nothing_of_the_checkout(packs: list[Path]):
    own = str(CHECKOUT)
    for pack in packs:
        files = [file for file in pack.rglob("*") if file.is_file() and "venv" not in file.parts]
        assert len(files) >= 40
        assert [file for file in files if own in file.read_text()] == []


def test_what_they_install_is_pinned_and_light(packs: list[Path]):
    requirements = (packs[0] / "requirements.txt").read_text()
    named = set(re.findall(r"^([\w.-]+)==[\w.]+", requirements, re.MULTILINE))
    assert {"pulumi-policy", "pydantic", "pyyaml", "protobuf"} <= named
    heavy = {name for name in named if name.startswith(("azure-", "pulumi-azure", "pulumi-kubernetes"))}
    assert heavy == set()
    assert requirements.count("--hash=sha256:") > len(named)


def test_their_readmes_list_every_policy(packs: list[Path]):
    for pack in packs:
        text = (pack / "README.md").read_text()
        assert pack.name in text
        assert text.count("\n| `") >= 10
        assert "$" not in text.partition("## Policies")[0]
