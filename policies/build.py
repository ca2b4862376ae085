"""Makes the packs self-contained: `make policy-pack` puts each into a folder of its own below `dist/`.

The folder holds the part of the library that a pack needs, as source: a wheel would bring the dependencies of the whole
product along, the Azure SDKs among them. What else it needs is pinned by the lock file.
"""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from string import Template

import yaml
from pulumi_policy import Policy

from aksgpu.packs import advice, guardrails

_CHECKOUT = Path(__file__).parents[1]
_LIBRARY = ("facts", "knowledge", "packs", "readers", "rules")
"""The parts of the library that packs import, besides the files at its top."""
_PACKS = ((_CHECKOUT / "policies", guardrails), (_CHECKOUT / "policies" / "advice", advice))


def build(target: Path) -> list[Path]:
    """Make a folder for each pack in `target`, in place of an older one; returns them."""
    requirements = _requirements()
    return [_build(source, policies(), requirements, target) for source, policies in _PACKS]


def _build(source: Path, policies: Sequence[Policy], requirements: str, target: Path) -> Path:
    settings = yaml.safe_load((source / "PulumiPolicy.yaml").read_text())
    folder = target / settings["name"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in ("PulumiPolicy.yaml", "__main__.py"):
        shutil.copy(source / file, folder)
    _copy_library(folder / "aksgpu")
    (folder / "requirements.txt").write_text(requirements)
    (folder / "README.md").write_text(_readme(settings["name"], settings["description"], policies))
    return folder


def _copy_library(target: Path) -> None:
    target.mkdir()
    for file in ("__init__.py", "errors.py"):
        shutil.copy(_CHECKOUT / "aksgpu" / file, target)
    for part in _LIBRARY:
        ignored = shutil.ignore_patterns("__pycache__", "examples")
        shutil.copytree(_CHECKOUT / "aksgpu" / part, target / part, ignore=ignored)


def _requirements() -> str:
    """Return what the dependency group `pack` comes to, with the versions and hashes of the lock file."""
    export = ("export", "--frozen", "--only-group", "pack", "--no-header", "--no-annotate")
    uv = os.environ.get("UV", "uv")
    return subprocess.run([uv, *export], cwd=_CHECKOUT, check=True, capture_output=True, text=True).stdout


def _readme(name: str, description: str, policies: Sequence[Policy]) -> str:
    with (_CHECKOUT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    rows = [f"| `{policy.name}` | {policy.description} |" for policy in policies]
    table = "\n".join(["| Policy | What must hold |", "| --- | --- |", *rows])
    template = Template((_CHECKOUT / "policies" / "README.template.md").read_text())
    return template.substitute(name=name, description=description, version=version, policies=table)


if __name__ == "__main__":
    for made in build(_CHECKOUT / "dist"):
        print(made.relative_to(_CHECKOUT))
