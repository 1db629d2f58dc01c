"""Whether somebody has a file open for writing: then what can be read of it may be half of a save."""

from __future__ import annotations

import signal
import sys

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["is_written"]


def is_written(descriptor: int) -> bool:
    """Asks for a lease, which Linux grants only on a file that nobody has open for writing, and gives it back.

    False also where it cannot be known: a file of somebody else, a file system that has no leases, another system.
    """
    if sys.platform != "linux" or fcntl is None:
        return False
    try:
        # Who opens the file for writing meanwhile is told to us by a signal; the usual one would end the process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False
