"""What there is on a disk, as it was found, and why something was not."""

from __future__ import annotations

import errno
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.paths import HERE

__all__ = [
    "Entry",
    "EntryKind",
    "FileProblem",
    "Known",
    "ProblemKind",
    "Signature",
    "SourceFile",
    "kind_by",
    "kind_of",
    "known_of",
    "problem_of",
    "signature_of",
    "touched_ns",
]


class ProblemKind(StrEnum):
    MISSING = "missing"
    NOT_REGULAR = "not_regular"
    OUTSIDE = "outside"
    LINK = "link"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    UNSUPPORTED = "unsupported"


class FileProblem(Exception):
    """``path`` is the one asked for; ``detail`` is a clause for people that names nothing outside the root."""

    def __init__(self, path: str, kind: ProblemKind, detail: str) -> None:
        super().__init__(f"{clean_line(path, 200)}: {detail}")
        self.path = path
        self.kind = kind
        self.detail = detail


Signature = tuple[int, int, int, int, int]
"""Device, inode, size, mtime and ctime, both in ns.

Two equal ones mean unchanged content, unless a write fell into the clock tick of the first look. No class of its own:
there is one for every file, and the collector of cycles does not keep track of plain tuples of numbers.
"""


Known = Mapping[str, Sequence[tuple[str, str, Signature | None]]]
"""By folder, what lies in it: the last name of each path, the path, and its signature."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """``path`` is canonical, ``digest`` the SHA-256 of ``data`` in hex, ``signature`` from before it was read.

    ``written``: it was changed a moment before, and is open for writing still.
    """

    path: str
    data: bytes
    digest: str
    signature: Signature
    written: bool = field(default=False, compare=False)


class EntryKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """``bytes`` is 0 for anything but a file. A link is told as such, not followed."""

    name: str
    kind: EntryKind
    bytes: int
    signature: Signature


_KINDS = {stat.S_IFREG: EntryKind.FILE, stat.S_IFDIR: EntryKind.FOLDER, stat.S_IFLNK: EntryKind.LINK}


def kind_of(found: os.stat_result) -> EntryKind:
    return kind_by(stat.S_IFMT(found.st_mode))


def kind_by(type_bits: int) -> EntryKind:
    return _KINDS.get(type_bits, EntryKind.OTHER)


def signature_of(found: os.stat_result) -> Signature:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def touched_ns(signature: Signature) -> int:
    """When the file, or its entry, was last changed, as the disk has it."""
    return max(signature[3], signature[4])


_BY_ERRNO = {
    errno.ENOENT: (ProblemKind.MISSING, "there is no such file"),
    errno.ENOTDIR: (ProblemKind.MISSING, "a part of the path is no folder"),
    errno.ENAMETOOLONG: (ProblemKind.MISSING, "the name is too long"),
    errno.ELOOP: (ProblemKind.LINK, "it became a link while it was opened"),
    errno.EACCES: (ProblemKind.UNREADABLE, "permission denied"),
    errno.EPERM: (ProblemKind.UNREADABLE, "permission denied"),
}


def problem_of(path: str, error: OSError) -> FileProblem:
    kind, detail = _BY_ERRNO.get(error.errno or 0, (ProblemKind.UNREADABLE, ""))
    return FileProblem(path, kind, detail or os.strerror(error.errno or errno.EIO).lower())


def known_of(signatures: Iterable[tuple[str, Signature | None]]) -> Known:
    """For `Tree.moved`: what is known of each path; where two things are, one of them has moved."""
    latest: dict[str, Signature | None] = {}
    known: dict[str, list[tuple[str, str, Signature | None]]] = defaultdict(list)
    for path, signature in signatures:
        if path in latest and latest[path] == signature:
            continue
        latest[path] = signature
        folder, _, name = path.rpartition("/")
        known[folder or HERE].append((name, path, signature))
    return known
