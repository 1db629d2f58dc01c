"""One runtime per workspace: a lock that names its holder.

The lock is an advisory one of the kernel, or where there is none a `LockBeside`; so it ends with the
process whatever kills it, and the text in the file only tells who holds it. The file is never deleted
here: unlinking a locked file lets two processes hold "the" lock on two inodes. Somebody else may do
that all the same, so the rule is: the workspace belongs to whoever has locked the file that is on disk
*now*. A holder looks once a second, takes the new file where nobody has, and gives way where somebody does.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import orjson

from evatui.kernel.workspace.lock_beside import LockBeside, is_held

try:
    import fcntl
except ImportError:  # Windows: no advisory lock of this kind
    fcntl = None  # type: ignore[assignment]

__all__ = ["Holder", "WorkspaceHeld", "WorkspaceLock", "holder_of"]

_NAME = "lock"
_STEP = 0.05
_MAX_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Holder:
    """``address`` is the path of its socket or ``host:port``, None before the holder listens.

    A holder that never ``listens`` (any more) is a command that runs for a moment, or a runtime that ends.
    """

    pid: int
    host: str
    address: str | None = None
    token: str | None = None
    listens: bool = True


class WorkspaceHeld(Exception):
    """Another process holds the workspace; ``holder`` is None where it has not said who it is."""

    def __init__(self, holder: Holder | None) -> None:
        who = f"pid {holder.pid} on {holder.host}" if holder else "another process"
        super().__init__(f"the workspace is held by {who}")
        self.holder = holder


class WorkspaceLock:
    """Held from construction to `close`. Thread-safe, and blocking."""

    def __init__(self, state_dir: Path, *, wait_s: float = 0.0, listens: bool = True) -> None:
        """Takes the lock, waiting at most ``wait_s``; ``listens`` tells whether the holder is going to.

        Raises `WorkspaceHeld`, and `OSError` where the state directory cannot be written.
        """
        self._state_dir = state_dir
        self._guard = threading.Lock()
        deadline = time.monotonic() + wait_s
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        while True:
            try:
                self._fd, self._beside = _take(state_dir)
                break
            except WorkspaceHeld:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(_STEP)
        self.announce(None, listens=listens)

    def announce(self, address: str | None, token: str | None = None, *, listens: bool = True) -> None:
        """Writes who holds the lock and where it listens, if it does."""
        who = {"pid": os.getpid(), "host": socket.gethostname()}
        self._told = orjson.dumps({**who, "socket": address, "token": token, "listens": listens}) + b"\n"
        with self._guard:
            self._tell()

    def look(self) -> bool:
        """Is the file on disk still the one that is locked? False where it was not, and was taken anew.

        Raises `WorkspaceHeld` where another process has taken the workspace meanwhile, and `OSError`
        where no file can be made: then nobody else can hold it either.
        """
        with self._guard:
            if self._fd < 0:
                return True
            beside = self._beside if self._beside is not None and self._beside.is_there() else None
            if _is_at(self._fd, self._state_dir) and beside is self._beside:
                return True
            self._state_dir.mkdir(exist_ok=True, mode=0o700)  # not above it: a workspace that is gone stays gone
            fresh, beside = _take(self._state_dir, beside)
            os.close(self._fd)
            if self._beside is not None and beside is not self._beside:
                self._beside.close()
            self._fd, self._beside = fresh, beside
            self._tell()
            return False

    def close(self) -> None:
        with self._guard:
            if self._fd >= 0:
                os.ftruncate(self._fd, 0)
                os.close(self._fd)
                self._fd = -1
                if self._beside is not None:
                    self._beside.close()

    def _tell(self) -> None:
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, self._told)
        os.ftruncate(self._fd, len(self._told))

    def __enter__(self) -> WorkspaceLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def holder_of(state_dir: Path) -> Holder | None:
    """Who holds the workspace now, None where nobody does. Writes nothing."""
    try:
        # without O_NONBLOCK a pipe in its place would be waited for
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        fd = os.open(state_dir / _NAME, flags)
    except OSError:
        return None
    try:
        return (_read(fd) or Holder(0, "")) if _is_locked(fd, state_dir) else None
    finally:
        os.close(fd)


def _take(state_dir: Path, beside: LockBeside | None = None) -> tuple[int, LockBeside | None]:
    """The locked file, as it is on disk: one that was exchanged between opening and locking is not the lock.

    ``beside`` is what the caller holds already, where the file itself cannot be locked.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    while True:
        fd = os.open(state_dir / _NAME, flags, 0o600)
        try:
            held = beside or _lock(fd, state_dir)
        except BlockingIOError:
            holder = _read(fd)
            os.close(fd)
            raise WorkspaceHeld(holder) from None
        if _is_at(fd, state_dir):
            return fd, held
        os.close(fd)
        if held is not None and held is not beside:
            held.close()


def _is_at(fd: int, state_dir: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(state_dir / _NAME, follow_symlinks=False))
    except OSError:
        return False


def _lock(fd: int, state_dir: Path) -> LockBeside | None:
    """Raises `BlockingIOError` where another has it."""
    if fcntl is None:
        return LockBeside(state_dir)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return None


def _is_locked(fd: int, state_dir: Path) -> bool:
    if fcntl is None:
        return is_held(state_dir)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _read(fd: int) -> Holder | None:
    try:
        os.lseek(fd, 0, os.SEEK_SET)
        told = orjson.loads(os.read(fd, _MAX_BYTES))
        listens = told.get("listens") is not False
        return Holder(int(told["pid"]), str(told["host"]), told.get("socket"), told.get("token"), listens)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
