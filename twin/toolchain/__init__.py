"""The programs the twin runs: taken from PATH where they are good enough, else built from pinned Go modules.

Building is slow and done once: results are kept in the cache, by everything that went into them.
"""

from collections.abc import Callable, Sequence

from twin.errors import TwinError
from twin.toolchain import golang
from twin.toolchain.build import build, result
from twin.toolchain.found import on_path
from twin.toolchain.groups import GROUPS, PROGRAMS, Group
from twin.toolchain.tool import Tool

__all__ = ["TOOLS", "Tool", "ensure", "locate"]

_GROUP_OF: dict[str, Group] = {program.name: group for group in GROUPS for program in group.programs}

TOOLS: tuple[str, ...] = tuple(PROGRAMS)
"""The names of all tools."""


def locate() -> dict[str, Tool]:
    """Return every tool by name, without building any."""
    return {name: _locate(name) for name in TOOLS}


def ensure(report: Callable[[str], None], names: Sequence[str] = TOOLS) -> dict[str, Tool]:
    """Return the tools `names`, building those that are missing; `report` gets lines of progress.

    Raises TwinError when one can't be built, and for a name that is not a tool's.
    """
    for name in names:
        if name not in _GROUP_OF:
            raise TwinError(f"There is no tool '{name}'; there are {', '.join(TOOLS)}.")
    missing = [name for name in names if _locate(name).origin == "missing"]
    if missing:
        go = golang.need()
        groups = [group for group in GROUPS if any(_GROUP_OF[name] is group for name in missing)]
        minutes = sum(program.minutes for group in groups for program in group.programs)
        report(f"building {', '.join(missing)}: about {minutes:.0f} min the first time on 2 cores, once")
        for group in groups:
            build(group, go, report)
    return {name: _locate(name) for name in names}


def _locate(name: str) -> Tool:
    version = PROGRAMS[name].version
    found = on_path(name)
    if found and not found.refusal:
        return Tool(name, found.path, found.version, "path")
    note = found.refusal if found else ""
    go = golang.find()
    built = result(_GROUP_OF[name], go) / name if go else None
    if built and built.is_file():
        return Tool(name, built, version, "built", note)
    return Tool(name, None, version, "missing", note)
