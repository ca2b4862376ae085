"""Fail when a process of this run is still there: one that inherited its AKSGPU_CI_RUN."""

import os
import sys

import psutil

RUN = os.environ["AKSGPU_CI_RUN"]
OURSELVES = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}


def belongs(process: psutil.Process) -> bool:
    """Tell whether a process was started by this run and is not on the way from it to this script."""
    try:
        environment = process.as_dict(attrs=["environ"])["environ"] or {}
    except psutil.NoSuchProcess:
        return False
    return process.pid not in OURSELVES and environment.get("AKSGPU_CI_RUN") == RUN


left = [" ".join(process.cmdline()) for process in psutil.process_iter() if belongs(process)]
sys.exit("Still running after the tests:\n" + "\n".join(left) if left else 0)
