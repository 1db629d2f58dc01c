"""What is said to a device and by it, in a file, for as long as an operator wants that."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from evatui.hardware.tap import Heard

__all__ = ["FrameLog"]

_MAX_BYTES: Final = 8 * 1_048_576
_KEPT: Final = 3


class FrameLog:
    """A line for each message: when, which way, how long, and its first bytes in hexadecimal. At most three files of
    8 MiB; whatever the disk refuses is not there. For one thread at a time."""

    def __init__(self, path: Path) -> None:
        """Goes on where an earlier one ended. Raises `OSError`."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = path
        self._file = _opened(path)
        self._size = os.fstat(self._file).st_size

    def __call__(self, heard: Heard) -> None:
        row = f"{heard.at} {heard.direction} {heard.size} {heard.data.hex()}\n".encode()
        with contextlib.suppress(OSError):
            if self._size + len(row) > _MAX_BYTES:
                self._turn()
            self._size += os.write(self._file, row)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._file)

    def _turn(self) -> None:
        for number in range(_KEPT - 1, 0, -1):
            older = self._numbered(number - 1)
            if older.exists():
                older.replace(self._numbered(number))
        os.close(self._file)
        self._file, self._size = _opened(self.path), 0

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}") if number else self.path


def _opened(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, 0o600)
