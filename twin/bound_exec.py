"""Becomes another program that the kernel kills when the parent dies.

Run as `python bound_exec.py PARENT_PID PROGRAM ARGUMENT…`. A child can only ask for this itself, before
it becomes the program; Python's own hook for that (`preexec_fn`) can deadlock in a process with threads.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != int(sys.argv[1]):  # the parent died before the kernel was asked to watch it
        sys.exit(1)
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - no shell is wanted
