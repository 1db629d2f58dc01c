"""A plugin as a whole: every file of its folder, by digest. What is not in that list never runs."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evatui.extensions.shared.folders import MANIFEST_FILE, below
from evatui.extensions.shared.manifest import MAX_MANIFEST
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import EntryKind, FileProblem, ProblemKind, Signature, Tree
from evatui.kernel.workspace.found import touched_ns
from evatui.kernel.workspace.paths import HERE

__all__ = [
    "MAX_FILE",
    "PASSED_OVER",
    "SIGNATURE_FILE",
    "Files",
    "PackageProblem",
    "PackedFile",
    "copied",
    "digest_of",
    "read_files",
]

MAX_FILE: Final = 100_000_000
"""Bytes of one file."""
PASSED_OVER: Final = frozenset({".git", "__pycache__"})
"""Folders that are no part of a plugin: they are neither hashed nor there where it runs."""
SIGNATURE_FILE: Final = "signature.json"
_MAX_TOTAL: Final = 400_000_000
_MAX_FILES: Final = 4_000
_MAX_DEPTH: Final = 16
_CHUNK: Final = 1 << 20
_AGAIN_S: Final = 0.005
_LOOKS: Final = 60
_YOUNG_NS: Final = 1_000_000_000
_EMPTY_NS: Final = 150_000_000
"""So young, an empty file may be one that is just being written: nothing empty is of use, so it can wait."""


class PackageProblem(Exception):
    """``path`` of the plugin, relative to its folder, is why it cannot be taken; ``detail`` is a clause."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(f"{clean_line(path, 200)}: {detail}")
        self.path = path
        self.detail = detail


@dataclass(frozen=True, slots=True)
class PackedFile:
    """``path`` is relative to the plugin's folder."""

    path: str
    digest: str
    size: int
    executable: bool


@dataclass(frozen=True, slots=True)
class Files:
    """By path, in order. ``signatures`` tell whether the folder was touched since; ``texts`` are the bytes of those
    that say what the plugin is, where they are there."""

    files: Mapping[str, PackedFile]
    signatures: Mapping[str, Signature]
    texts: Mapping[str, bytes]
    read_ns: int

    @property
    def digest(self) -> str:
        return digest_of(self.files.values())

    def still(self, signatures: Mapping[str, Signature]) -> bool:
        """Is it certain that nothing was written since? Clocks of disks tick slowly."""
        return signatures == self.signatures and not _is_young(self.signatures, self.read_ns)


def digest_of(files: Iterable[PackedFile]) -> str:
    """Of names, contents and who may be executed."""
    closure = hashlib.sha256()
    for file in sorted(files, key=lambda one: one.path):
        closure.update(f"{file.digest} {int(file.executable)} {len(file.path.encode())} {file.path}\n".encode())
    return closure.hexdigest()


def read_files(tree: Tree, folder: str, known: Files | None = None) -> Files:
    """All of ``folder``, once it is at rest; ``known`` where that was not touched since. Blocking.

    Raises `PackageProblem`.
    """
    for _ in range(_LOOKS):
        before = _signatures(tree, folder)
        if known is not None and known.still(before):
            return known
        now = time.time_ns()
        files = {path: copied(tree, below(folder, path), path, None) for path in before}
        texts: dict[str, bytes] = {
            path: _text(tree, folder, path) for path in (MANIFEST_FILE, SIGNATURE_FILE) if path in files
        }
        time.sleep(_AGAIN_S if _is_young(before, now) else 0)
        if any(not file.size and now - touched_ns(before[path]) < _EMPTY_NS for path, file in files.items()):
            continue  # it may have been cut off, to be written anew
        same = all(hashlib.sha256(data).hexdigest() == files[path].digest for path, data in texts.items())
        if same and _signatures(tree, folder) == before:
            total = sum(file.size for file in files.values())
            if total > _MAX_TOTAL:
                raise PackageProblem(HERE, f"it has more than {_MAX_TOTAL:,} bytes")
            return Files(files, before, texts, now)
    raise PackageProblem(HERE, "it is still changing")


def _is_young(signatures: Mapping[str, Signature], now: int) -> bool:
    return now - max(map(touched_ns, signatures.values()), default=0) < _YOUNG_NS


def copied(tree: Tree, place: str, path: str, into: int | None) -> PackedFile:
    """One file, hashed as it is read; what was hashed is written to the descriptor ``into``. Raises `PackageProblem`.

    No link is followed, on the way to it neither.
    """
    try:
        with tree.holding(place) as (holder, name):
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=holder)
            try:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode):
                    raise PackageProblem(path, "it is no regular file")
                if found.st_size > MAX_FILE:
                    raise _too_large(path)  # not read for nothing
                return _hashed(descriptor, path, bool(found.st_mode & 0o111), into)
            finally:
                os.close(descriptor)
    except FileProblem as problem:
        raise PackageProblem(path, problem.detail) from None


def _too_large(path: str) -> PackageProblem:
    return PackageProblem(path, f"it has more than {MAX_FILE:,} bytes")


def _hashed(descriptor: int, path: str, executable: bool, into: int | None) -> PackedFile:
    digest, size = hashlib.sha256(), 0
    while data := os.read(descriptor, _CHUNK):
        size += len(data)
        if size > MAX_FILE:
            raise _too_large(path)
        digest.update(data)
        while into is not None and data:
            data = data[os.write(into, data) :]
    return PackedFile(path, digest.hexdigest(), size, executable)


def _text(tree: Tree, folder: str, path: str) -> bytes:
    try:
        return tree.read(below(folder, path), MAX_MANIFEST).data
    except FileProblem as problem:
        raise PackageProblem(path, problem.detail) from None


def _signatures(tree: Tree, folder: str) -> dict[str, Signature]:
    found = dict(_walk(tree, folder, HERE, 0))
    if len(found) > _MAX_FILES:
        raise PackageProblem(HERE, f"it has more than {_MAX_FILES:,} files")
    return dict(sorted(found.items()))


def _walk(tree: Tree, folder: str, inside: str, depth: int) -> Iterator[tuple[str, Signature]]:
    """Every file; raises `PackageProblem` at the first thing that is neither that nor a folder."""
    if depth > _MAX_DEPTH:
        raise PackageProblem(inside, f"it lies deeper than {_MAX_DEPTH} folders")
    try:
        kinds = tree.kinds(below(folder, inside))
        for entry in tree.list(below(folder, inside), _MAX_FILES + 1):
            path = below(inside, entry.name)
            if entry.kind is EntryKind.FILE:
                yield path, entry.signature
            elif entry.kind is EntryKind.LINK:
                raise PackageProblem(path, "it is a link, and what a link leads to is not the plugin's")
            elif entry.kind is EntryKind.OTHER:
                raise PackageProblem(path, "it is a pipe, a socket or a device")
            elif entry.name not in PASSED_OVER:
                yield from _walk(tree, folder, path, depth + 1)
    except FileProblem as problem:
        detail = "" if problem.kind is ProblemKind.MISSING else problem.detail
        raise PackageProblem(inside, detail or "it went away while it was read") from None
    unseen = next((name for name in kinds if not name.isprintable()), None)
    if unseen is not None:
        raise PackageProblem(below(inside, clean_line(unseen, 80)), "its name cannot be shown")
