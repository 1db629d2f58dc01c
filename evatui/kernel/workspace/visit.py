"""Many files looked at in one go: each folder is walked to once and then held open."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable
from typing import Self

from evatui.kernel.workspace.access import Folder, Leaves
from evatui.kernel.workspace.files import MAX_LINKS, FileProblem, Signature, Spot, Tree
from evatui.kernel.workspace.paths import HERE, is_plain

__all__ = ["Visit"]

_HELD_S = 0.2
_MAX_HELD = 64


class Visit(Tree):
    """``tree`` for one pass in one thread; to be closed, or used in a ``with``.

    What lies right in a folder that is held is reached from there, so that a folder which is replaced meanwhile may
    answer for up to 0.2 s as it was before. What is not found like that is walked to as ever.
    """

    def __init__(self, tree: Tree) -> None:
        self._access, self._real, self._root = tree._access, tree._real, tree._root
        self._held: dict[str, tuple[Folder, list[str]]] = {}
        self._since = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """The tree stays open."""
        for folder, _ in self._held.values():
            self._access.leave(folder)
        self._held = {}

    def signatures(self, paths: Iterable[str]) -> dict[str, Signature | None]:
        return {path: self.stat_signature(path) for path in paths}

    def _walk(self, path: str, spot: Spot, links: int) -> None:
        if links != MAX_LINKS or not is_plain(path) or not self._at_hand(path, spot):
            super()._walk(path, spot, links)

    def _at_hand(self, path: str, spot: Spot) -> bool:
        """Fills ``spot`` if there is a file where ``path`` says, without a link."""
        folder, _, name = path.rpartition("/")
        try:
            holder, names = self._folder(folder or HERE)
            found = self._access.lstat(holder, name)
        except (OSError, Leaves, FileProblem):
            return False
        if not stat.S_ISREG(found.st_mode):
            return False
        spot.folders[0], spot.names, spot.leaf, spot.found = holder, names, name, found
        return True

    def _folder(self, path: str) -> tuple[Folder, list[str]]:
        if len(self._held) >= _MAX_HELD or time.monotonic() - self._since > _HELD_S:
            self.close()
            self._since = time.monotonic()
        known = self._held.get(path)
        return known if known is not None else self._hold(path)

    def _hold(self, path: str) -> tuple[Folder, list[str]]:
        spot = Spot([self._root], [])
        try:
            super()._walk(path, spot, MAX_LINKS)
            if spot.leaf is not None:
                raise NotADirectoryError
            if len(spot.folders) == 1:
                return self._root, spot.names
            self._held[path] = spot.folders.pop(), spot.names
            return self._held[path]
        finally:
            for folder in spot.folders[1:]:
                self._access.leave(folder)
