"""One file that is only ever appended to, and that notices when somebody else touches it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

__all__ = ["LogFile"]

_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_sync = getattr(os, "fdatasync", os.fsync)


class LogFile:
    """``size`` is its length with all that was appended. Every method but `append` may raise `OSError`."""

    def __init__(self, path: Path, fd: int, size: int, durable: bool) -> None:
        self.path = path
        self.size = size
        self._fd = fd
        self._durable = durable
        self._fresh: list[bytes] = []
        """Appended, and not in the file yet."""
        self._written = size
        self._ragged = False
        """There may be more in the file than what was written as a whole."""

    @classmethod
    def create(cls, path: Path, durable: bool) -> LogFile:
        """A new file, for its owner alone; `FileExistsError` where there is anything of that name."""
        fd = os.open(path, _APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        if durable:
            _sync_directory(path.parent)
        return cls(path, fd, 0, durable)

    @classmethod
    def resume(cls, path: Path, size: int, durable: bool) -> LogFile:
        """An existing regular file with one name; what lies beyond ``size`` is cut off."""
        fd = os.open(path, _APPEND | getattr(os, "O_NONBLOCK", 0))
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                raise OSError(f"{path.name} is not a regular file with a single name")
            if found.st_size > size:
                os.ftruncate(fd, size)
        except OSError:
            os.close(fd)
            raise
        return cls(path, fd, size, durable)

    def append(self, data: bytes) -> None:
        """To be written with the next `commit`."""
        self._fresh.append(data)
        self.size += len(data)

    def commit(self) -> None:
        """Returns once the system has all that was appended, or the disk has it where the file is to be durable.

        After an error nothing of it counts, and it is to be taken back with `retract`.
        """
        if self._fresh:
            if self._ragged:
                os.ftruncate(self._fd, self._written)
            data = b"".join(self._fresh)  # at once: each entry into the system lets go of the GIL
            self._ragged = True
            done = os.write(self._fd, data)
            while done < len(data):
                done += os.write(self._fd, data[done:])
            self._ragged = False
            self._written = self.size
            self._fresh.clear()
        if self._durable:
            _sync(self._fd)

    def retract(self, size: int) -> None:
        """What was appended beyond ``size`` does not count; the next append begins there."""
        self._fresh.clear()
        self.size = size
        if size < self._written:
            self._written, self._ragged = size, True

    def tampering(self) -> str | None:
        """``deleted``, ``replaced``, ``shortened`` or ``lengthened`` by somebody else; None where all is well."""
        own = os.fstat(self._fd)
        try:
            named = os.stat(self.path, follow_symlinks=False)
        except FileNotFoundError:
            return "deleted"
        if (named.st_dev, named.st_ino) != (own.st_dev, own.st_ino):
            return "replaced"
        if own.st_size < self._written:
            return "shortened"
        return "lengthened" if own.st_size > self._written and not self._ragged else None

    def close(self) -> None:
        """Leaves no part of a failed append behind, if that can be helped."""
        with contextlib.suppress(OSError):
            if self._ragged:
                os.ftruncate(self._fd, self._written)
        os.close(self._fd)


def _sync_directory(directory: Path) -> None:
    with contextlib.suppress(PermissionError):  # a directory cannot be opened on Windows
        fd = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
