"""How one step from a folder to what lies in it is taken without following a link.

Two ways with one shape: by descriptor, where each step is relative to the open parent and so cannot be
redirected by renaming it; and by path, for platforms that have no ``openat`` or ``O_NOFOLLOW``, where the
real path is compared instead (a link that is swapped in between the two is then noticed only afterwards).
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

__all__ = ["Access", "ByDescriptor", "ByPath", "Folder", "Leaves", "Root", "best_access"]

_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE_FLAGS |= getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
"""Non-blocking, or opening a pipe that nobody writes to would wait for ever."""
_FOLDS_CASE = sys.platform in ("darwin", "win32")

Folder = int | str
"""An open folder: a descriptor, or a path."""


class Leaves(Exception):
    """The step leads somewhere else than its name says."""


class Access(Protocol):
    """Every method raises `OSError` as the system does; ``enter`` and ``open`` never follow a link.

    ``types`` are those of a mode (`stat.S_IFMT`), without asking for each; 0 is for what is neither file nor folder
    nor link.
    """

    def root(self, path: Path) -> Folder: ...

    def lstat(self, folder: Folder, name: str) -> os.stat_result: ...

    def readlink(self, folder: Folder, name: str) -> str: ...

    def enter(self, folder: Folder, name: str) -> Folder: ...

    def open(self, folder: Folder, name: str) -> int: ...

    def names(self, folder: Folder) -> list[str]: ...

    def types(self, folder: Folder) -> dict[str, int]: ...

    def leave(self, folder: Folder) -> None: ...


class Root:
    """The root folder, open for as long as somebody reads in it."""

    def __init__(self, access: Access, folder: Folder) -> None:
        self.folder = folder
        self._access = access

    def __del__(self) -> None:
        self._access.leave(self.folder)


class ByDescriptor:
    def root(self, path: Path) -> Folder:
        return os.open(path, os.O_RDONLY | _DIRECTORY | os.O_CLOEXEC)

    def lstat(self, folder: Folder, name: str) -> os.stat_result:
        found = os.stat(name, dir_fd=int(folder), follow_symlinks=False)
        if _FOLDS_CASE and name not in self.names(folder):
            raise FileNotFoundError(name)
        return found

    def readlink(self, folder: Folder, name: str) -> str:
        return os.readlink(name, dir_fd=int(folder))

    def enter(self, folder: Folder, name: str) -> Folder:
        return os.open(name, os.O_RDONLY | _DIRECTORY | _NO_FOLLOW | os.O_CLOEXEC, dir_fd=int(folder))

    def open(self, folder: Folder, name: str) -> int:
        return os.open(name, _FILE_FLAGS, dir_fd=int(folder))

    def names(self, folder: Folder) -> list[str]:
        """Through a descriptor of its own: two threads listing one descriptor would share its position."""
        with self._own(folder) as own:
            return os.listdir(own)

    def types(self, folder: Folder) -> dict[str, int]:
        with self._own(folder) as own, os.scandir(own) as found:
            return {entry.name: _type(entry) for entry in found}

    @contextmanager
    def _own(self, folder: Folder) -> Iterator[int]:
        own = os.open(".", os.O_RDONLY | _DIRECTORY | os.O_CLOEXEC, dir_fd=int(folder))
        try:
            yield own
        finally:
            os.close(own)

    def leave(self, folder: Folder) -> None:
        os.close(int(folder))


class ByPath:
    def root(self, path: Path) -> Folder:
        real = os.path.realpath(path, strict=True)
        if not os.path.isdir(real):
            raise NotADirectoryError(real)
        return real

    def lstat(self, folder: Folder, name: str) -> os.stat_result:
        path = os.path.join(str(folder), name)
        found = os.lstat(path)
        if not stat.S_ISLNK(found.st_mode):
            self._same(path)
        return found

    def readlink(self, folder: Folder, name: str) -> str:
        return os.readlink(os.path.join(str(folder), name))

    def enter(self, folder: Folder, name: str) -> Folder:
        path = os.path.join(str(folder), name)
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise NotADirectoryError(path)
        return self._same(path)

    def open(self, folder: Folder, name: str) -> int:
        path = os.path.join(str(folder), name)
        descriptor = os.open(path, _FILE_FLAGS)
        try:
            self._same(path)
            if not os.path.samestat(os.fstat(descriptor), os.lstat(path)):
                raise Leaves
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def names(self, folder: Folder) -> list[str]:
        return os.listdir(folder)

    def types(self, folder: Folder) -> dict[str, int]:
        with os.scandir(str(folder)) as found:
            return {entry.name: _type(entry) for entry in found}

    def leave(self, folder: Folder) -> None:
        """A path holds nothing open."""

    def _same(self, path: str) -> str:
        """``path`` if it is real: no link, no junction, no other case, no second name of Windows."""
        if os.path.realpath(path, strict=True) != path:
            raise Leaves
        return path


def _type(entry: os.DirEntry[str]) -> int:
    if entry.is_file(follow_symlinks=False):
        return stat.S_IFREG
    if entry.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    return stat.S_IFLNK if entry.is_symlink() else 0


def best_access() -> Access:
    by_descriptor = _NO_FOLLOW and _DIRECTORY and {os.open, os.stat, os.readlink} <= os.supports_dir_fd
    return ByDescriptor() if by_descriptor else ByPath()
