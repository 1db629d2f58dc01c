"""How long other processes have run."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

__all__ = ["pid_of", "ran_s"]

_SCHEDULED: Final = 2
"""The kind of clock: time on a processor, in user and in system mode."""


def ran_s(pid: int) -> float | None:
    """Seconds of processor time; None where the system does not tell, or the process is gone."""
    if sys.platform != "linux":
        return None
    try:
        return time.clock_gettime(~pid << 3 | _SCHEDULED)
    except OSError:
        return None


def pid_of(handle: int) -> int | None:
    """Of a process descriptor; None where the system does not tell, or the process is gone."""
    try:
        lines = Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines()
    except OSError:
        return None
    pid = next((int(line.split()[1]) for line in lines if line.startswith("Pid:")), 0)
    return pid if pid > 0 else None
