"""One SQLite file in WAL mode, its schema versioned, used by one thread at a time."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from evatui.kernel.storage.schema import STATE

__all__ = ["Database", "StorageError"]

_BUSY_TIMEOUT_S = 5.0
_UNMERGED_BYTES = 1 << 20
_UNMERGED_PAGES = 8_192
"""Of 4 KiB: where nobody looks after the file, the commit that exceeds it merges them, however long that takes."""


class StorageError(Exception):
    """The database cannot be used. ``message`` names no path; ``busy``: somebody else was writing, try again."""

    def __init__(self, message: str, *, busy: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.busy = busy


class Database:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`.

    Without a path it lives in memory and is gone at `close`. ``steps`` lead to its tables, see `schema`.
    """

    def __init__(self, path: Path | None, steps: Sequence[str] = STATE) -> None:
        self._lock = threading.RLock()
        self._path = path
        self._steps = steps
        self._name = path.name if path is not None else "the database"
        self._refusal = ""
        self._closed = False
        with _explained(self._name):
            if path is not None:
                _make_private(path)
            self._connection = _connect(str(path) if path is not None else ":memory:")
            self._identity = _identity(path)
        try:
            with _explained(self._name):
                self._prepare()
        except StorageError:
            self._connection.close()
            raise

    @classmethod
    def copy_of(cls, path: Path, steps: Sequence[str] = STATE) -> Database:
        """A copy in memory of what ``path`` holds, empty where there is no such file.

        The file and its folder are left as they are: whoever only looks may write into the copy, and nobody will know.
        """
        copy = cls(None, steps)
        if os.path.lexists(path):
            try:
                with _explained(path.name):
                    if not path.is_file():  # a pipe would be waited for
                        raise StorageError(f"{path.name} is not a regular file")
                    _copy_into(copy._connection, path)
                    copy._prepare()
            except StorageError:
                copy.close()
                raise
        return copy

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Everything inside happens, or nothing of it; one thread at a time."""
        with self._lock, _explained(self._name):
            if self._refusal:
                raise StorageError(self._refusal)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """For a single query, which sees all of a transaction or nothing of it, and waits for no other process."""
        with self._lock, _explained(self._name):
            if self._refusal:
                raise StorageError(self._refusal)
            yield self._connection

    def close(self) -> None:
        """Idempotent."""
        with self._lock:
            self._closed = True
            self._connection.close()

    def refuse(self, why: str) -> None:
        """From now on every use raises `StorageError` with ``why``."""
        with self._lock:
            self._refusal = why

    def look(self) -> str:
        """Is the file on disk still the one that is open? What was wrong with it, empty where nothing was.

        For the holder of the workspace, once a second. A file that was deleted is written again from what is open,
        and nothing is lost. Another one in its place is nobody's to overwrite: from then on every use is refused,
        since what was stored now would be gone after the next start. Raises `StorageError` where nothing can be
        written in place of a deleted file; the next look tries again.

        Where all is well, what was committed is merged into the file, so that no commit has to wait for that.
        """
        with self._lock:
            if self._path is None or self._closed or self._refusal:
                return self._refusal
            found = _identity(self._path)
            if found is None:
                with _explained(self._name):
                    self._write_again(self._path)
                return f"{self._path.name} was deleted by somebody else, and was written again"
            if found != self._identity:
                self._refusal = f"{self._path.name} was replaced by somebody else: end the runtime and start it again"
                return self._refusal
        with contextlib.suppress(OSError, sqlite3.Error):  # the next look, or the end, does it
            _merge(self._path)
        return ""

    def _write_again(self, path: Path) -> None:
        """The old connection ends last: until then nothing is lost, and by then it knows its file as moved."""
        beside = path.with_name(path.name + ".new")
        path.parent.mkdir(mode=0o700, exist_ok=True)  # not above it: a workspace that is gone stays gone
        beside.unlink(missing_ok=True)
        _make_private(beside)
        with contextlib.closing(sqlite3.connect(beside)) as copy:
            self._connection.backup(copy)
        for suffix in ("-wal", "-shm"):  # of the deleted file: they must not be taken for the new one's
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        os.replace(beside, path)
        old, self._connection, self._identity = self._connection, _connect(str(path)), _identity(path)
        old.close()

    def _prepare(self) -> None:
        """Bring the schema up to date, each step in a transaction of its own."""
        latest = len(self._steps)
        found = _version(self._connection)
        if found > latest:
            raise StorageError(
                f"{self._name} was written by a newer version (schema {found}, this one knows {latest}); "
                "use that version, or another state directory"
            )
        for step in range(found, latest):
            script = f"BEGIN IMMEDIATE; {self._steps[step]} PRAGMA user_version = {step + 1}; COMMIT;"
            self._connection.executescript(script)


def _connect(target: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        target, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, uri=uri
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        if not uri:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_UNMERGED_PAGES}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _merge(path: Path) -> None:
    """Beside whoever writes, and as far as nobody reads: on a connection of its own, it holds up neither."""
    if path.with_name(path.name + "-wal").stat().st_size >= _UNMERGED_BYTES:
        with contextlib.closing(_connect(str(path))) as beside:
            beside.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _copy_into(copy: sqlite3.Connection, path: Path) -> None:
    # A reader of a WAL database creates its -wal and -shm files and leaves them behind. Where there is no -wal,
    # nobody has the database open, so it may be read as a file that does not change.
    mode = "ro" if path.with_name(path.name + "-wal").exists() else "ro&immutable=1"
    source = _connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
    try:
        source.backup(copy)
    finally:
        source.close()


def _make_private(path: Path) -> None:
    """SQLite gives its side files the mode of the main one, so that one is made first."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StorageError(f"{path.name} is not a regular file")
    finally:
        os.close(descriptor)


def _identity(path: Path | None) -> tuple[int, int] | None:
    """None where there is no such file."""
    try:
        found = os.stat(path, follow_symlinks=False) if path is not None else None
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino) if found is not None else None


@contextlib.contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the module's own errors carry none
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StorageError(f"{name} is in use by another process", busy=True) from None
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise StorageError(f"{name} is damaged ({error}); move it away, or put a sound copy in its place") from None
        raise StorageError(f"{name} cannot be used: {error}") from None
    except OSError as error:
        raise StorageError(f"{name} cannot be opened: {os.strerror(error.errno or 0).lower()}") from None
