"""Notices at once that nodes in a folder come, go, or get other permissions, where the system tells that: Linux, by
inotify. Only a hint to look sooner; whoever misses it has lost nothing but time."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sys
from collections.abc import Callable
from typing import Final

__all__ = ["Noticing"]

_ATTRIBUTES, _MOVED, _CREATED, _DELETED = 0x4, 0x40 | 0x80, 0x100, 0x200
"""Not what is written: somebody writes to /dev/null all the time."""
_MASK: Final = _ATTRIBUTES | _MOVED | _CREATED | _DELETED
_ROOM: Final = 65_536


class Noticing:
    """For the loop that opens it. ``noticed`` is called for each burst of news."""

    def __init__(self, folder: str, noticed: Callable[[], None]) -> None:
        self._folder = folder
        self._noticed = noticed
        self._descriptor = -1

    def open(self) -> bool:
        """False where the system does not tell."""
        self._descriptor = _watched(self._folder)
        if self._descriptor < 0:
            return False
        asyncio.get_running_loop().add_reader(self._descriptor, self._read)
        return True

    def close(self) -> None:
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._descriptor, _ROOM)
        self._noticed()


def _watched(folder: str) -> int:
    """The descriptor of what watches, negative where there is none."""
    if sys.platform != "linux":
        return -1
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = int(library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    if descriptor >= 0 and library.inotify_add_watch(descriptor, os.fsencode(folder), _MASK) < 0:
        os.close(descriptor)
        return -1
    return descriptor
