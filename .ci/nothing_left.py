"""Fail when a twin, a control plane or a plugin still runs after the tests."""

import sys

import psutil

MARKS = ("twin.daemon", "aksgpu/tools/", "pulumi-language-", "pulumi-resource-")


def command(process: psutil.Process) -> str:
    """Return the command line of a process, empty when it can't be seen."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return ""


left = [line for process in psutil.process_iter() if any(mark in (line := command(process)) for mark in MARKS)]
sys.exit("Still running after the tests:\n" + "\n".join(left) if left else 0)
