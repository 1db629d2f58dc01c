"""Room on the disk that is kept for saying that there is none."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

__all__ = ["Reserve", "is_full"]

_BYTES = 65_536
_BLANK = b"\0" * _BYTES


def is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class Reserve:
    """A file of blanks. It helps as well as its file system keeps its word about who owns a block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def missing(self) -> int:
        """Bytes of the room that are not taken by now."""
        try:
            return max(0, _BYTES - os.stat(self._path, follow_symlinks=False).st_size)
        except OSError:
            return _BYTES

    def fill(self) -> None:
        """Take the room, where it is not taken already. On a disk that has none nothing is taken."""
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            fd = os.open(self._path, flags, 0o600)
            try:
                if os.fstat(fd).st_size < _BYTES and os.write(fd, _BLANK) < _BYTES:
                    os.ftruncate(fd, 0)
            except OSError:
                os.ftruncate(fd, 0)
                raise
            finally:
                os.close(fd)

    def free(self) -> None:
        """Give the room back."""
        with contextlib.suppress(OSError):
            os.unlink(self._path)
