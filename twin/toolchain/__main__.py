"""`python -m twin.toolchain [NAME…]`: build what is missing, then list the tools."""

import sys

from rich.console import Console

from twin.errors import TwinError
from twin.toolchain import TOOLS, ensure


def main(names: list[str]) -> int:
    """Have the tools `names`, or the usual ones; returns the exit code."""
    console = Console(soft_wrap=True, highlight=False)
    try:
        with console.status("looking for the tools") as status:

            def report(line: str) -> None:
                console.print(line, markup=False)
                status.update(line)

            tools = ensure(report, names or TOOLS)
    except TwinError as error:
        print(error, file=sys.stderr)
        return 2
    for tool in tools.values():
        note = f" ({tool.note})" if tool.note else ""
        console.print(f"{tool.name} {tool.version} {tool.path}{note}", markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
