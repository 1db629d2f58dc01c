"""One runtime per workspace: a lock that names its holder.

The lock is an advisory one of the kernel, so it ends with the process whatever kills it; the text
in the file only tells who holds it. The file is never deleted: unlinking a locked file would let
two processes hold "the" lock on two inodes.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import orjson

try:
    import fcntl
except ImportError:  # Windows: no advisory lock of this kind
    fcntl = None  # type: ignore[assignment]

__all__ = ["Holder", "WorkspaceHeld", "WorkspaceLock", "holder_of"]

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
    """Held from construction to `close`."""

    def __init__(self, state_dir: Path, *, wait_s: float = 0.0, listens: bool = True) -> None:
        """Takes the lock, waiting at most ``wait_s``; ``listens`` tells whether the holder is going to.

        Blocking: call it off the loop.

        Raises `WorkspaceHeld`, and `OSError` where the state directory cannot be written.
        """
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._fd = os.open(
            state_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600
        )
        deadline = time.monotonic() + wait_s
        while not _try_lock(self._fd):
            if time.monotonic() >= deadline:
                holder = _read(self._fd)
                os.close(self._fd)
                raise WorkspaceHeld(holder)
            time.sleep(_STEP)
        self.announce(None, listens=listens)

    def announce(self, address: str | None, token: str | None = None, *, listens: bool = True) -> None:
        """Writes who holds the lock and where it listens, if it does."""
        who = {"pid": os.getpid(), "host": socket.gethostname()}
        text = orjson.dumps({**who, "socket": address, "token": token, "listens": listens})
        os.pwrite(self._fd, text + b"\n", 0)
        os.ftruncate(self._fd, len(text) + 1)

    def close(self) -> None:
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1

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
        flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        fd = os.open(state_dir / "lock", flags)
    except OSError:
        return None
    try:
        return None if _try_lock(fd, shared=True) else _read(fd) or Holder(0, "")
    finally:
        os.close(fd)


def _try_lock(fd: int, *, shared: bool = False) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(fd: int) -> Holder | None:
    try:
        told = orjson.loads(os.pread(fd, _MAX_BYTES, 0))
        listens = told.get("listens") is not False
        return Holder(int(told["pid"]), str(told["host"]), told.get("socket"), told.get("token"), listens)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
