"""A lock for where the system has no ``flock``: that of SQLite, which every Python brings for every platform.

An exclusive transaction of an empty database beside the lock file. Like ``flock`` it ends with the process, whatever
kills that, and unlike a lock on bytes of the lock file, which Windows enforces, it keeps nobody from reading there who
holds the workspace.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["LockBeside", "is_held"]

_NAME = "lock.db"


class LockBeside:
    """Held from construction to `close`. Raises `BlockingIOError` where another holds it."""

    def __init__(self, state_dir: Path) -> None:
        import sqlite3  # only where there is no flock: whoever attaches comes by here

        self._path = state_dir / _NAME
        # One that is there must not be opened here: where locks are those of POSIX, closing it would end them all.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        self._database = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            self._database.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            self._database.close()
            raise BlockingIOError from None
        self._locked = os.stat(self._path)

    def is_there(self) -> bool:
        """Is the file on disk still the one that is locked?"""
        try:
            return os.path.samestat(self._locked, os.stat(self._path))
        except OSError:
            return False

    def close(self) -> None:
        self._database.close()


def is_held(state_dir: Path) -> bool:
    """Does a process hold it? Writes nothing."""
    import sqlite3

    path = state_dir / _NAME
    if not path.exists():
        return False
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0)) as database:
        try:
            database.execute("SELECT 1 FROM sqlite_master").fetchall()
        except sqlite3.OperationalError:
            return True
    return False
