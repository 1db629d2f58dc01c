"""Which folders must be watched so that nothing about a workspace's files escapes: a picture, taken by walking."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evatui.kernel.workspace.files import Signature, signature_of

__all__ = ["UNWATCHED", "Ground", "look", "survey"]

UNWATCHED = frozenset({".git", ".eva"})
"""Folders in which much happens that is nobody's capability."""
_MAX_LINKS = 40


@dataclass(frozen=True, slots=True)
class Ground:
    """Absolute paths, all of them real and inside ``root``, which is real too.

    ``folders`` are the given ones and all below, ``unreadable`` those among them that may not be listed.
    ``holders`` are the folders that a way to them leads through: where a link, or a folder that is not there (yet),
    has its name. ``turns`` are these names: whatever happens to one, the ground is another.
    """

    root: str
    folders: frozenset[str]
    unreadable: frozenset[str]
    holders: frozenset[str]
    turns: frozenset[str]

    @property
    def watched(self) -> tuple[frozenset[str], ...]:
        """All that a watch on it depends on."""
        return self.folders, self.unreadable, self.holders


def survey(root: Path, tops: Iterable[str], files: Iterable[str] = ()) -> Ground:
    """The ground of ``tops``, and the ways to ``files``. Links are followed only as far as they stay in ``root``.

    A link to ``/`` in a cloned workspace must not cost a walk over the whole machine.
    """
    walk = _Walk(os.path.realpath(root))
    for top in tops:
        walk.down(walk.way(walk.root, top))
    for file in files:
        walk.way(walk.root, file)
    return Ground(
        walk.root,
        frozenset(walk.folders),
        frozenset(walk.unreadable),
        frozenset(walk.holders - walk.folders),
        frozenset(walk.turns),
    )


def look(root: Path, tops: Iterable[str], files: Iterable[str] = (), *, follow: bool = True) -> dict[str, Signature]:
    """The files below ``tops``, and ``files``, by path relative to ``root``. What cannot be read is left out.

    A link to a file stands for what it leads to, or is left out where links are not to be followed.
    """
    ground = survey(root, tops)
    found = {name: _signed(os.path.join(ground.root, name), follow) for name in files}
    for folder in ground.folders:
        inside = os.path.relpath(folder, ground.root).replace(os.sep, "/")
        before = "" if inside == "." else f"{inside}/"
        found |= {before + name: _signed(path, follow) for name, path in _files(folder)}
    return {name: signature for name, signature in found.items() if signature is not None}


class _Walk:
    def __init__(self, root: str) -> None:
        self.root = root
        self.folders: set[str] = set()
        self.unreadable: set[str] = set()
        self.holders: set[str] = set()
        self.turns: set[str] = set()

    def way(self, start: str, path: str) -> str | None:
        """Where ``path`` leads from ``start``, one name after the other; None for out of the root, or nowhere."""
        at, waiting, links = start, _names(path), 0
        while waiting:
            name = waiting.pop()
            if name == "..":
                if at == self.root:
                    return None
                at = os.path.dirname(at)
                continue
            self.holders.add(at)
            spot = os.path.join(at, name)
            mode = _mode(spot)
            if mode is None or not stat.S_ISREG(mode):
                self.turns.add(spot)
            if mode is None:
                return None
            if stat.S_ISLNK(mode):
                links += 1
                base, target = self._target(at, spot)
                if base is None or links > _MAX_LINKS:
                    return None
                at = base
                waiting += target
            else:
                at = spot
        return at

    def _target(self, at: str, link: str) -> tuple[str | None, list[str]]:
        try:
            target = os.readlink(link)
        except OSError:
            return None, []
        if not os.path.isabs(target):
            return at, _names(target)
        inside = os.path.relpath(target, self.root)
        return (None, []) if inside.split(os.sep)[0] == ".." else (self.root, _names(inside))

    def down(self, top: str | None) -> None:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            if folder is None or folder in self.folders:
                continue
            try:
                with os.scandir(folder) as listed:
                    entries = list(listed)
            except PermissionError:
                self.folders.add(folder)
                self.unreadable.add(folder)
                continue
            except OSError:
                continue
            self.folders.add(folder)
            waiting += [self._led(folder, entry) for entry in entries if entry.name not in UNWATCHED]

    def _led(self, folder: str, entry: os.DirEntry[str]) -> str | None:
        if entry.is_symlink():
            return self.way(folder, entry.name)
        return entry.path if entry.is_dir(follow_symlinks=False) else None


def _names(path: str) -> list[str]:
    """Last name first."""
    return [name for name in reversed(path.replace(os.sep, "/").split("/")) if name not in ("", ".")]


def _mode(path: str) -> int | None:
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return None


def _files(folder: str) -> list[tuple[str, str]]:
    try:
        with os.scandir(folder) as listed:
            return [(entry.name, entry.path) for entry in listed if not entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _signed(path: str, follow: bool) -> Signature | None:
    try:
        found = os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return None
    return signature_of(found) if stat.S_ISREG(found.st_mode) else None
