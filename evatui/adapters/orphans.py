"""What a command leaves behind that has killed its keeper: on Linux it becomes this process's, and is ended here.

Whatever a command starts can gain no rights, and can never cast that off; nothing else that this process starts is
so. Where this process itself is, they cannot be told apart, and what outlives its keeper escapes.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = ["adopting", "end_orphans"]

_SET_SUBREAPER: Final = 36
_PATIENCE_S: Final = 5.0
_PAUSE_S: Final = 0.005
_MARK: Final = "NoNewPrivs:\t1"

_REAP_EVERY_S: Final = 1.0

_lock = threading.Lock()
_adopting = 0
_enough = threading.Event()


@contextmanager
def adopting() -> Iterator[None]:
    """Meanwhile who loses its parent, and was started below this process, becomes a child of it, and is not left as a
    zombie when it ends."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(more: int) -> None:
    global _adopting, _enough
    with _lock:
        before, _adopting = _adopting, _adopting + more
        if sys.platform != "linux" or (before > 0) is (_adopting > 0):
            return
        ctypes.CDLL(None).prctl(_SET_SUBREAPER, int(_adopting > 0), 0, 0, 0)
        if _adopting:
            _enough = threading.Event()
            threading.Thread(target=_reap, args=(_enough,), name="evatui-orphans", daemon=True).start()
        else:
            _enough.set()


def _reap(enough: threading.Event) -> None:
    """Once a second, and once more at the end: whoever was adopted and has ended by itself."""
    marked = _is_marked("self")
    while not marked:
        ended = enough.wait(_REAP_EVERY_S)
        for pid in filter(_is_marked, _children()):
            with suppress(OSError):
                os.waitpid(int(pid), os.WNOHANG)
        if ended:
            return


def end_orphans() -> None:
    """Kills what was adopted from commands, and what these leave in turn, until there is nothing. Blocking."""
    if sys.platform != "linux" or _is_marked("self"):
        return
    until = time.monotonic() + _PATIENCE_S
    while (orphans := [pid for pid in _children() if _is_marked(pid)]) and time.monotonic() < until:
        for pid in orphans:
            with suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)
                os.waitpid(int(pid), os.WNOHANG)
        time.sleep(_PAUSE_S)


def _children() -> Iterator[str]:
    """Of each thread: the system gives an orphan to any of them."""
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            yield from listed.read_text().split()


def _is_marked(pid: str) -> bool:
    with suppress(OSError):
        return _MARK in Path(f"/proc/{pid}/status").read_text().splitlines()
    return False
