"""The notices of Linux, asked of the kernel itself.

Libraries keep to themselves what counts here: that the queue ran over, that a watch has ended, and files
whose names are no text.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from errno import EACCES, ELOOP, ENOENT, ENOTDIR, EPERM

from evatui.kernel.workspace.notices import Batch

__all__ = ["Inotify"]

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED, _CREATE, _DELETE = 0xC0, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED, _IS_FOLDER = 0x2000, 0x4000, 0x8000, 0x4000_0000
_ONLY_FOLDERS, _NO_FOLLOW, _ONLY_LINKED = 0x100_0000, 0x200_0000, 0x400_0000
_NAMES = _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_NAMES |= _ONLY_FOLDERS | _NO_FOLLOW | _ONLY_LINKED
_ALL = _NAMES | _MODIFY
_ENDED = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED
_HEAD = struct.Struct("iIII")
_BUFFER = 1 << 16
_LEFT_OUT = frozenset({ENOENT, ENOTDIR, ELOOP, EACCES, EPERM})


class Inotify:
    """`Notices` of Linux. Raises `OSError` where the system has no instance left."""

    name = "inotify"

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None, use_errno=True)
        self._fd = self._called(self._c.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._alarm = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._either = select.poll()
        self._either.register(self._fd, select.POLLIN)
        self._either.register(self._alarm, select.POLLIN)
        self._watched: dict[int, str] = {}
        self._closing = threading.Lock()

    def watch(self, folders: Iterable[str], holders: Iterable[str]) -> None:
        """Each path is asked for anew: what lies there now may be another folder than before."""
        wanted = dict.fromkeys(holders, _NAMES) | dict.fromkeys(folders, _ALL)
        watched: dict[int, str] = {}
        for folder, mask in wanted.items():
            try:
                number = self._c.inotify_add_watch(self._fd, os.fsencode(folder), ctypes.c_uint32(mask))
                watched[self._called(number)] = folder
            except OSError as error:
                if error.errno not in _LEFT_OUT:
                    raise
        for number in self._watched.keys() - watched.keys():
            self._c.inotify_rm_watch(self._fd, number)  # fails where the folder, and so the watch, is gone
        self._watched = watched

    def wait(self, timeout_s: float) -> Batch | None:
        ready = dict(self._either.poll(timeout_s * 1000))
        if self._fd not in ready:
            return None
        batch = Batch()
        with suppress(BlockingIOError):
            for number, mask, name in _parsed(os.read(self._fd, _BUFFER)):
                self._take(batch, number, mask, name)
        return batch

    def _take(self, batch: Batch, number: int, mask: int, name: bytes) -> None:
        batch.overflowed |= bool(mask & _OVERFLOW)
        folder = self._watched.get(number)
        if folder is None:
            return  # one that is not watched any more
        batch.reshaped |= bool(mask & _ENDED)
        if name:
            path = os.path.join(folder, os.fsdecode(name))
            batch.paths.add(path)
            if mask & _IS_FOLDER:
                batch.folders.add(path)
            elif mask & _MODIFY:
                batch.writing.add(path)
            elif mask & _CLOSE_WRITE:
                batch.writing.discard(path)
                batch.closed.add(path)

    def wake(self) -> None:
        with self._closing, suppress(OSError):
            os.eventfd_write(self._alarm, 1)

    def close(self) -> None:
        with self._closing:  # the number may be another file's afterwards
            os.close(self._fd)
            os.close(self._alarm)
            self._fd = self._alarm = -1

    def _called(self, answer: int) -> int:
        if answer < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return answer


def _parsed(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at < len(data):
        number, mask, _, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield number, mask, data[at : at + length].rstrip(b"\0")
        at += length
