"""The `aksgpu` command. Each sub-command is a file of its own, imported when it is called."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aksgpu.cli.commands import COMMANDS, SUMMARY, overview
from aksgpu.errors import AksgpuError

if TYPE_CHECKING:
    from cyclopts import App

_OVERVIEW = ([], ["--help"], ["-h"])


def command_line() -> "App":
    """Return the whole command line."""
    from cyclopts import App

    app = App(name="aksgpu", help=SUMMARY, help_format="plaintext", version_flags=["--version"])
    for command in COMMANDS:
        app.command(command.target, name=command.name)
    return app


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command; a mistake is one paragraph on stderr and exit code 2, never a traceback."""
    result: object = None
    # A command ends soon and keeps nearly all that it makes: looking for garbage takes time and finds nothing.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    try:
        result = _run(list(sys.argv[1:] if tokens is None else tokens))
        sys.stdout.flush()
    except AksgpuError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("Stopped.", code=130)
    except BrokenPipeError:
        # The reader (`| head`) has what it wanted; without this Python complains once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - the last resort, so that nobody sees a traceback
        if not _is_from_the_twin(error):
            _unexpected(error)
        _fail(str(error))
    sys.exit(result if isinstance(result, int) else 0)


def _run(tokens: list[str]) -> object:
    if tokens in _OVERVIEW:
        sys.stdout.write(overview())
        return 0
    from cyclopts import CycloptsError

    try:
        return command_line()(tokens, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        return 2  # the error is printed already


def _is_from_the_twin(error: Exception) -> bool:
    """Tell whether the text is meant for a person. The installed library has no twin, so it is not imported here."""
    twin_errors = sys.modules.get("twin.errors")
    return twin_errors is not None and isinstance(error, twin_errors.TwinError)


def _fail(text: str, code: int = 2) -> None:
    sys.stderr.write(f"aksgpu: {text}\n")
    sys.exit(code)


def _unexpected(error: Exception) -> None:
    """Say what happened without a traceback, and leave the traceback where it can be attached to a report."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="aksgpu-error-", suffix=".txt", delete=False) as report:
        report.write("".join(traceback.format_exception(error)))
    _fail(
        f"something went wrong that should not have: {type(error).__name__}: {error}. "
        f"Details that help to mend it are in {report.name}."
    )
