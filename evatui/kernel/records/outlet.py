"""A pipe or terminal that is to get every record as well, and that may not hold up who writes."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from collections import deque

__all__ = ["Outlet"]

_PIECE = 4096
"""A pipe that says it can be written takes at least this much at once without blocking (``PIPE_BUF``)."""
_KEPT = 4096


class Outlet:
    """Lines go out whole and in order; what a reader does not take in time is kept for later, up to 4,096 lines.

    Not thread-safe. ``give_up_s`` is how long a reader may take before `send` raises.
    """

    def __init__(self, fd: int, give_up_s: float) -> None:
        self._fd = fd
        self._give_up_s = give_up_s
        self._waits = not stat.S_ISREG(os.fstat(fd).st_mode)
        self._lines: deque[bytes] = deque(maxlen=_KEPT)
        self._begun = b""
        """The rest of a line that is half out."""

    def add(self, line: bytes) -> None:
        self._lines.append(line)

    def send(self) -> None:
        """Everything that was added. Raises `OSError`: ``ETIMEDOUT`` where the reader does not read."""
        deadline = time.monotonic() + self._give_up_s
        while self._begun or self._lines:
            self._begun = self._begun or self._lines.popleft()
            if self._waits and not self._writable(deadline):
                raise OSError(errno.ETIMEDOUT, "the reader of standard output does not read")
            self._begun = self._begun[os.write(self._fd, self._begun[:_PIECE]) :]

    def _writable(self, deadline: float) -> bool:
        left = max(0.0, deadline - time.monotonic())
        return bool(select.select((), (self._fd,), (), left)[1])
