"""Writing a file so that whoever looks finds the old content or the new, and never a part.

The new content goes into a file of its own in the same folder, which then takes the name. Appending does so
too: a write at the end could stop in the middle, at a full disk or a killed process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import cache
from typing import Any

from evatui.kernel.model.ids import new_id
from evatui.kernel.workspace.files import FileProblem, ProblemKind, Signature, Tree, signature_of

__all__ = ["Changed", "Exists", "WriteMode", "Writer"]

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_REPLACE = 1
_NOT_KNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


class WriteMode(StrEnum):
    REPLACE = "replace"
    CREATE = "create"
    APPEND = "append"


class Exists(Exception):
    """There is something by that name already, and it was to be created."""


class Changed(Exception):
    """Somebody else wrote the file meanwhile."""


class Writer:
    """Writes below a `Tree`, one file at a time, so that no two appends take the same content for the old one."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._one_at_a_time = threading.Lock()

    def write(self, path: str, data: bytes, mode: WriteMode, limit: int) -> int:
        """Returns the size of the file afterwards, which may have ``limit`` bytes. On disk when it returns. Blocking.

        Follows no link and writes to none, nor to a file with a second name, nor to one that nobody may write.
        A replaced file keeps its permission bits; owner, other names and extended attributes it does not keep.
        Raises `FileProblem`, `Exists`, `Changed` (only for an append).
        """
        with self._one_at_a_time, self._tree.holding(path) as (folder, name):
            before = _target(path, folder, name)
            if before is not None and mode is WriteMode.CREATE:
                raise Exists
            if before is not None and mode is WriteMode.APPEND:
                data = _content(path, folder, name, before, limit) + data
            if len(data) > limit:
                raise FileProblem(path, ProblemKind.TOO_LARGE, f"it would have more than {limit:,} bytes")
            with _draft(folder, data, before) as draft:
                if before is None and mode is not WriteMode.REPLACE:
                    _claim(folder, draft, name, mode)
                else:
                    _take_over(path, folder, draft, name, before if mode is WriteMode.APPEND else None)
            os.fsync(folder)
            return len(data)


def _target(path: str, folder: int, name: str) -> os.stat_result | None:
    """What is there now, if anything is."""
    if name in ("", "."):
        raise FileProblem(path, ProblemKind.NOT_REGULAR, "it is a folder")
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _check(path, found)
    if sys.platform == "darwin" and name not in os.listdir(folder):
        raise FileProblem(path, ProblemKind.LINK, "it is another name for something else")
    return found


def _check(path: str, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise FileProblem(path, ProblemKind.LINK, "it is a link")
    if stat.S_ISDIR(found.st_mode):
        raise FileProblem(path, ProblemKind.NOT_REGULAR, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise FileProblem(path, ProblemKind.NOT_REGULAR, "it is a pipe, a socket or a device")
    if found.st_nlink > 1:
        raise FileProblem(path, ProblemKind.LINK, "it has a second name (a hard link)")
    if not found.st_mode & 0o222:
        raise FileProblem(path, ProblemKind.UNREADABLE, "it is read-only")


def _content(path: str, folder: int, name: str, before: os.stat_result, limit: int) -> bytes:
    if before.st_size > limit:
        raise FileProblem(path, ProblemKind.TOO_LARGE, f"it has more than {limit:,} bytes")
    with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
        if signature_of(os.fstat(file.fileno())) != signature_of(before):
            raise Changed
        data = file.read(limit + 1)
    if len(data) != before.st_size:
        raise Changed
    return data


@contextmanager
def _draft(folder: int, data: bytes, before: os.stat_result | None) -> Iterator[str]:
    """A new file with the content, safe on disk. It is gone afterwards, unless it got another name."""
    draft = f".{new_id('draft')}.tmp"
    descriptor = os.open(draft, _FLAGS, 0o666 if before is None else 0o600, dir_fd=folder)
    try:
        try:
            if before is not None:
                os.fchmod(descriptor, before.st_mode & 0o777)
            left = memoryview(data)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield draft
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)


def _take_over(path: str, folder: int, draft: str, name: str, before: os.stat_result | None) -> None:
    """Gives the draft its name. Between the last look and this step another may write: then the later one stays."""
    now = _target(path, folder, name)
    if before is not None and _signature(now) != signature_of(before):
        raise Changed
    os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)


def _signature(found: os.stat_result | None) -> Signature | None:
    return signature_of(found) if found is not None else None


def _claim(folder: int, draft: str, name: str, mode: WriteMode) -> None:
    """Gives the draft a name that nobody has, in one step."""
    try:
        if not _renamed(folder, draft, name):
            os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise (Exists if mode is WriteMode.CREATE else Changed) from None


def _renamed(folder: int, draft: str, name: str) -> bool:
    """False where the system cannot rename without replacing; a link for a moment must do there."""
    rename = _renameat2()
    if rename is None:
        return False
    if rename(folder, os.fsencode(draft), folder, os.fsencode(name), _NO_REPLACE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_KNOWN:
        return False
    raise OSError(number, os.strerror(number))


@cache
def _renameat2() -> Any:
    if sys.platform != "linux":
        return None
    found = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if found is not None:
        found.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return found
