"""What `aksgpu` can do, as data: the overview and the command line are both made from it.

The overview needs nothing but this file, because importing a library for command lines takes longer than all of it.
"""

from typing import NamedTuple


class Command(NamedTuple):
    """A sub-command."""

    name: str
    target: str
    """What is imported when it is called: `module:object`."""
    help: str


COMMANDS = (
    Command("check", "aksgpu.cli.check:check", "Check manifests, chart values, az JSON, Pulumi states and previews."),
    Command("down", "aksgpu.cli.down:down", "Destroy a stack, consumers before claims before pools."),
    Command("rules", "aksgpu.cli.rules:rules", "The rule book: what is checked, why, and the fix."),
    Command("twin", "aksgpu.cli.twin:app", "A stand-in AKS on this machine."),
    Command("up", "aksgpu.cli.up:up", "Deploy a stack and show what Azure and Kubernetes report."),
    Command("upgrade", "aksgpu.cli.upgrade:app", "Plan a cluster's upgrade, one minor at a time."),
)

SUMMARY = "Move the NVIDIA GPUs of AKS clusters to Kubernetes dynamic resource allocation (DRA)."

_EXAMPLES = """\
Examples:
  aksgpu check manifests/ --cluster-version 1.35   find what can't work, and why
  aksgpu rules dual-advertisement                  why, and how to fix it
  aksgpu twin exec -- pulumi preview --stack dev   rehearse on this machine
  aksgpu twin status                               what runs, and from where
"""


def overview() -> str:
    """Return the text of `aksgpu --help`."""
    options = (("--help (-h)", "Show this overview."), ("--version", "Show the version."))
    rows = [*((command.name, command.help) for command in COMMANDS), *options]
    width = max(len(name) for name, _ in rows)
    listed = [f"  {name:<{width}}  {text}" for name, text in rows]
    commands, flags = listed[: len(COMMANDS)], listed[len(COMMANDS) :]
    return "\n".join(
        [
            "Usage: aksgpu COMMAND",
            "",
            SUMMARY,
            "",
            "Commands:",
            *commands,
            "",
            "Options:",
            *flags,
            "",
            "`aksgpu COMMAND --help` explains one of them.",
            "",
            _EXAMPLES,
        ]
    )
