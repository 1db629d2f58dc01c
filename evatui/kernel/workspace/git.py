"""Whether git is changing files just now."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["GitLock"]

_LOCK = "index.lock"
_POINTER = b"gitdir:"
_MAX_BYTES = 4096


class GitLock:
    """The lock that git holds on its index from the first file of a checkout, merge or rebase step to the last."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._stale: tuple[int, int] | None = None

    @property
    def held(self) -> bool:
        """Does git hold the lock of the repository that the workspace is (in)? Never for one given up on."""
        found = self._found()
        return found is not None and found != self._stale

    def give_up(self) -> None:
        """The lock that is there was left by a git that died: it counts no more."""
        self._stale = self._found()

    def _found(self) -> tuple[int, int] | None:
        folder = self._git_folder()
        try:
            found = None if folder is None else os.lstat(os.path.join(folder, _LOCK))
        except OSError:
            return None
        return None if found is None else (found.st_ino, found.st_ctime_ns)

    def _git_folder(self) -> str | None:
        """A worktree and a submodule have a file there that names the folder."""
        for folder in (self._root, *self._root.parents):
            found = os.path.join(folder, ".git")
            if os.path.isdir(found):
                return found
            if os.path.isfile(found):
                return self._pointed(found)
        return None

    def _pointed(self, file: str) -> str | None:
        try:
            with open(file, "rb") as pointer:
                told = pointer.read(_MAX_BYTES)
        except OSError:
            return None
        if not told.startswith(_POINTER):
            return None
        target = os.fsdecode(told.removeprefix(_POINTER).strip())
        return None if "\0" in target else os.path.join(os.path.dirname(file), target)
