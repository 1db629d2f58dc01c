"""Reading inside a root that nothing leads out of.

A path is walked component by component, each relative to its parent's descriptor, and no step follows a
link by itself: links are read and resolved here, so that one that leaves the root is seen and refused.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from evatui.kernel.workspace.access import Access, Folder, Leaves, Root, best_access
from evatui.kernel.workspace.content import content, regular
from evatui.kernel.workspace.found import (
    Entry,
    EntryKind,
    FileProblem,
    Known,
    ProblemKind,
    Signature,
    SourceFile,
    kind_by,
    kind_of,
    problem_of,
    signature_of,
    touched_ns,
)
from evatui.kernel.workspace.paths import HERE, InvalidPath, normal, parts_of
from evatui.kernel.workspace.writers import is_written

__all__ = ["Entry", "EntryKind", "FileProblem", "ProblemKind", "Signature", "SourceFile", "Tree", "signature_of"]

_NO_NAMES = frozenset({"", ".", ".."})
_MAX_LINKS = 40
_MAX_STEPS = 256
_JUST_NOW_NS = 1_000_000_000


@dataclass(slots=True)
class _Spot:
    """Where a path leads: the open folders down to it, and the last name if that is no folder."""

    folders: list[Folder]
    names: list[str]
    leaf: str | None = None
    found: os.stat_result | None = None

    @property
    def canonical(self) -> str:
        return "/".join(self.names if self.leaf is None else [*self.names, self.leaf]) or HERE


class Tree:
    """A root folder held open. Methods may be called from several threads; nothing may be called after `close`.

    Every path given is relative to the root, with ``/``, and never leads upwards; else `FileProblem` OUTSIDE.
    """

    def __init__(self, root: Path, access: Access | None = None) -> None:
        """Raises `OSError` if ``root`` is no folder that can be opened."""
        self._access = access or best_access()
        self._path = root
        self._real = os.path.realpath(root)
        self._root = Root(self._access, self._access.root(root))

    def follow(self) -> bool:
        """Goes over to the folder that now lies where the root did; False, and no change, where none does.

        Whoever is reading meanwhile ends in the old one.
        """
        try:
            found = Root(self._access, self._access.root(self._path))
            if not os.path.samestat(os.stat(found.folder), os.stat(self._root.folder)):
                self._real, self._root = os.path.realpath(self._path), found
        except OSError:
            return False
        return True

    def close(self) -> None:
        del self._root

    def read(self, path: str, limit: int, *, max_links: int | None = None) -> SourceFile:
        """The regular file at ``path``, at most ``limit`` bytes and ``max_links`` hard links. Raises `FileProblem`."""
        with self._resolve(path) as spot:
            if spot.leaf is None or spot.found is None:
                raise FileProblem(path, ProblemKind.NOT_REGULAR, "it is a folder")
            regular(path, spot.found)
            return self._taken(path, spot.folders[-1], spot.leaf, spot.canonical, limit, max_links)

    def canonical(self, path: str) -> str:
        """Where ``path`` really lies, every link resolved, in the case that the disk has. Raises `FileProblem`."""
        with self._resolve(path) as spot:
            return spot.canonical

    def kind(self, path: str) -> EntryKind:
        """What ``path`` leads to, links followed inside the root. Raises `FileProblem`."""
        with self._resolve(path) as spot:
            return EntryKind.FOLDER if spot.found is None else kind_of(spot.found)

    def list(self, path: str, limit: int | None = None) -> tuple[Entry, ...]:
        """The first ``limit`` entries of a folder by name, without names that cannot be shown. Raises `FileProblem`."""
        with self._resolve(path) as spot:
            if spot.leaf is not None:
                raise FileProblem(path, ProblemKind.NOT_REGULAR, "it is not a folder")
            folder = spot.folders[-1]
            names = sorted(name for name in self._access.names(folder) if name.isprintable())
            return tuple(self._entries(folder, names[:limit]))

    def kinds(self, path: str) -> dict[str, EntryKind]:
        """What lies in a folder, by name and in its order, names that cannot be shown too. Raises `FileProblem`."""
        with self._resolve(path) as spot:
            if spot.leaf is not None:
                raise FileProblem(path, ProblemKind.NOT_REGULAR, "it is not a folder")
            types = self._access.types(spot.folders[-1])
            return {name: kind_by(types[name]) for name in sorted(types)}

    def stat_signature(self, path: str) -> Signature | None:
        """None where there is no regular file to be read."""
        try:
            with self._resolve(path) as spot:
                readable = spot.found is not None and stat.S_ISREG(spot.found.st_mode)
                return signature_of(spot.found) if readable and spot.found else None
        except FileProblem:
            return None

    def signatures(self, paths: Iterable[str]) -> dict[str, Signature | None]:
        """`stat_signature` of many; each folder is walked to once."""
        by_folder: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for path in paths:
            folder, _, name = path.rpartition("/")
            by_folder[folder or HERE].append((path, name))
        found: dict[str, Signature | None] = {}
        for folder, members in by_folder.items():
            self._put_signatures(folder, members, found)
        return found

    def moved(self, known: Known) -> set[str]:
        """The paths whose `stat_signature` is another one by now.

        Whatever is not plainly the same at a glance gets the closer look: links, what is missing, odd names.
        """
        doubtful: list[tuple[str, Signature | None]] = []
        for folder, members in known.items():
            try:
                with self._resolve(folder) as spot:
                    holder, lstat = spot.folders[-1], self._access.lstat
                    if spot.leaf is not None:
                        raise FileProblem(folder, ProblemKind.MISSING, "it is no folder")
                    for name, path, signature in members:
                        try:
                            found = lstat(holder, name)
                            if signature_of(found) == signature and stat.S_ISREG(found.st_mode):
                                continue
                        except (OSError, ValueError, Leaves):
                            pass
                        doubtful.append((path, signature))
            except FileProblem:
                doubtful += [(path, signature) for _, path, signature in members]
        return {path for path, signature in doubtful if self.stat_signature(path) != signature}

    @contextmanager
    def holding(self, path: str) -> Iterator[tuple[int, str]]:
        """The open folder that holds ``path``, and the last name of it, which need not exist.

        No link is followed on the way, not even inside the root. Raises `FileProblem`, also for an `OSError` within.
        """
        folder, _, name = _normal(path).rpartition("/")
        with self._resolve(folder or HERE, links=0) as spot:
            if spot.leaf is not None:
                raise FileProblem(path, ProblemKind.MISSING, "a part of the path is no folder")
            holder = spot.folders[-1]
            if not isinstance(holder, int):
                raise FileProblem(path, ProblemKind.UNSUPPORTED, "files cannot be written safely on this system")
            yield holder, name

    def _taken(
        self, path: str, folder: Folder, name: str, canonical: str, limit: int, max_links: int | None
    ) -> SourceFile:
        descriptor = self._access.open(folder, name)
        try:
            opened = os.fstat(descriptor)
            regular(path, opened)
            if max_links is not None and opened.st_nlink > max_links:
                raise FileProblem(path, ProblemKind.LINK, "it has a second name (a hard link)")
            data, signature = content(path, descriptor, opened.st_size, limit), signature_of(opened)
            written = time.time_ns() - touched_ns(signature) < _JUST_NOW_NS and is_written(descriptor)
        finally:
            os.close(descriptor)
        return SourceFile(canonical, data, hashlib.sha256(data).hexdigest(), signature, written)

    def _put_signatures(
        self, folder: str, members: Iterable[tuple[str, str]], into: dict[str, Signature | None]
    ) -> None:
        """Those of paths that lie in a folder, each with its last name."""
        try:
            with self._resolve(folder) as spot:
                holder, lstat = spot.folders[-1], self._access.lstat
                for path, name in members:
                    try:
                        found = lstat(holder, name) if spot.leaf is None and name not in _NO_NAMES else None
                    except (OSError, ValueError, Leaves):
                        into[path] = None
                        continue
                    regular = found is not None and stat.S_ISREG(found.st_mode)
                    into[path] = signature_of(found) if found and regular else self.stat_signature(path)
        except FileProblem:
            into.update((path, None) for path, _ in members)

    def _entries(self, folder: Folder, names: Iterable[str]) -> Iterator[Entry]:
        for name in names:
            with suppress(OSError, Leaves):  # gone since the folder was listed
                found = self._access.lstat(folder, name)
                kind = kind_of(found)
                yield Entry(name, kind, found.st_size if kind is EntryKind.FILE else 0, signature_of(found))

    @contextmanager
    def _resolve(self, path: str, links: int = _MAX_LINKS) -> Iterator[_Spot]:
        root = self._root  # held until the end: somebody may `follow` meanwhile
        spot = _Spot([root.folder], [])
        try:
            self._walk(path, spot, links)
            yield spot
        except InvalidPath as error:
            raise FileProblem(path, ProblemKind.OUTSIDE, str(error)) from None
        except Leaves:
            raise FileProblem(path, ProblemKind.LINK, "it is another name for something else") from None
        except OSError as error:
            raise problem_of(path, error) from None
        finally:
            for folder in spot.folders[1:]:
                self._access.leave(folder)

    def _walk(self, path: str, spot: _Spot, links: int) -> None:
        """Follows at most so many ``links``."""
        waiting = parts_of(path)[::-1]
        steps = 0
        while waiting:
            name = waiting.pop()
            steps += 1
            if steps > _MAX_STEPS:
                raise FileProblem(path, ProblemKind.LINK, "its links lead too far")
            if name == "..":
                if not spot.names:
                    raise FileProblem(path, ProblemKind.OUTSIDE, "a link leads out of the workspace")
                spot.names.pop()
                self._access.leave(spot.folders.pop())
                continue
            found = self._access.lstat(spot.folders[-1], name)
            if stat.S_ISLNK(found.st_mode):
                links -= 1
                if links < 0:
                    raise FileProblem(path, ProblemKind.LINK, "it leads through a link, or through too many")
                waiting.extend(self._target(path, spot, name))
            elif stat.S_ISDIR(found.st_mode):
                spot.folders.append(self._access.enter(spot.folders[-1], name))
                spot.names.append(name)
            elif waiting:
                raise FileProblem(path, ProblemKind.MISSING, "a part of the path is no folder")
            else:
                spot.leaf, spot.found = name, found

    def _target(self, path: str, spot: _Spot, name: str) -> Iterable[str]:
        """What a link says, last step first. An absolute one must name the root, and starts there again."""
        target = self._access.readlink(spot.folders[-1], name)
        if os.path.isabs(target):
            inside = os.path.relpath(target, self._real) if _names_root(self._real, target) else None
            if inside is None:
                raise FileProblem(path, ProblemKind.OUTSIDE, "a link leads out of the workspace")
            while spot.names:
                spot.names.pop()
                self._access.leave(spot.folders.pop())
            target = inside
        return [part for part in reversed(target.replace(os.sep, "/").split("/")) if part not in ("", ".")]


def _normal(path: str) -> str:
    try:
        return normal(path)
    except InvalidPath as error:
        raise FileProblem(path, ProblemKind.OUTSIDE, str(error)) from None


def _names_root(root: str, target: str) -> bool:
    return ".." not in target.split(os.sep) and (target == root or target.startswith(root.rstrip(os.sep) + os.sep))
