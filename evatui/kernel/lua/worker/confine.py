"""What a worker gives up before it is given a program."""

from __future__ import annotations

import os
import signal
import sys

from evatui.kernel.lua.worker import landlock, limits, seccomp, syscalls

__all__ = ["confine", "end_with"]

_PDEATHSIG, _DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38


def end_with(parent: int) -> None:
    """Linux ends this process when the thread that forked it ends: the only one of the process ``parent``."""
    syscalls.prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def confine(memory_bytes: int) -> None:
    """All that this machine has, for good. Raises `OSError` where it has something that does not take hold."""
    mapped = limits.mapped()
    if sys.platform == "linux":
        syscalls.prctl(_NO_NEW_PRIVS, 1)
        syscalls.prctl(_DUMPABLE, 0)
    landlock.give_up_files()
    limits.limit(memory_bytes, mapped)
    seccomp.give_up_calls()
