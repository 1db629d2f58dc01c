"""Many files looked at in one go: each folder is walked to once and then held open."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from evatui.kernel.workspace.access import Folder, Leaves
from evatui.kernel.workspace.files import FileProblem, Signature, SourceFile, Tree, signature_of
from evatui.kernel.workspace.paths import is_plain

__all__ = ["Visit"]

_HELD_S = 0.2
_MAX_HELD = 64


@dataclass(slots=True)
class _Held:
    folder: Folder
    canonical: str


class Visit(Tree):
    """``tree`` for one pass in one thread; to be closed, or used in a ``with``.

    What lies right in a folder that is held is reached from there, so that a folder which is replaced meanwhile may
    answer for up to 0.2 s as it was before. What is not found like that is walked to as ever.
    """

    def __init__(self, tree: Tree) -> None:
        self._access, self._path, self._real, self._root = tree._access, tree._path, tree._real, tree._root
        self._held: dict[str, _Held] = {}
        self._since = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """The tree stays open."""
        for held in self._held.values():
            self._access.leave(held.folder)
        self._held = {}

    def read(self, path: str, limit: int, *, max_links: int | None = None) -> SourceFile:
        held, name = self._holder(path)
        try:
            if held is not None and self._regular(held, name):
                return self._taken(path, held.folder, name, f"{held.canonical}/{name}", limit, max_links)
        except (OSError, Leaves):
            pass  # gone, or something else by now: the other way tells which
        return super().read(path, limit, max_links=max_links)

    def stat_signature(self, path: str) -> Signature | None:
        held, name = self._holder(path)
        found = self._regular(held, name) if held is not None else None
        return signature_of(found) if found is not None else super().stat_signature(path)

    def signatures(self, paths: Iterable[str]) -> dict[str, Signature | None]:
        return {path: self.stat_signature(path) for path in paths}

    def _regular(self, held: _Held, name: str) -> os.stat_result | None:
        try:
            found = self._access.lstat(held.folder, name)
        except (OSError, Leaves):
            return None
        return found if stat.S_ISREG(found.st_mode) else None

    def _holder(self, path: str) -> tuple[_Held | None, str]:
        """The folder right above ``path``, and the last name; None where it takes a closer look to say."""
        folder, _, name = path.rpartition("/")
        if not folder or not is_plain(path):
            return None, name
        if time.monotonic() - self._since > _HELD_S or len(self._held) >= _MAX_HELD:
            self.close()
            self._since = time.monotonic()
        return self._held.get(folder) or self._hold(folder), name

    def _hold(self, path: str) -> _Held | None:
        try:
            with self._resolve(path) as spot:
                if spot.leaf is not None or not spot.names:
                    return None
                self._held[path] = _Held(spot.folders.pop(), spot.canonical)
                return self._held[path]
        except FileProblem:
            return None
