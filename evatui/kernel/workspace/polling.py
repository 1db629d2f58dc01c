"""Where the system gives no notices: looking again and again, and where that is known beforehand."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evatui.kernel.workspace.files import Signature, signature_of

__all__ = ["UNWATCHED", "changed", "folders_below", "look", "network_filesystem"]

UNWATCHED = frozenset({".git", ".eva"})
"""Folders in which much happens that is nobody's capability."""
_NETWORK = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "drvfs",
    "prl_fs",
    "vboxsf",
    "vmhgfs",
    "virtiofs",
}


def folders_below(root: Path, tops: Iterable[str]) -> frozenset[str]:
    """Every folder at or below ``tops``, absolute and real. Links are followed only as far as they stay in ``root``.

    A link to ``/`` in a cloned workspace must not cost a walk over the whole machine.
    """
    inside = os.path.realpath(root)
    found: set[str] = set()
    waiting = [os.path.realpath(root / top) for top in tops]
    while waiting:
        folder = waiting.pop()
        if folder in found or os.path.commonpath([inside, folder]) != inside:
            continue
        entries = _entries(folder)
        if entries is not None:
            found.add(folder)
            inner = [entry for entry in entries if entry.name not in UNWATCHED and _is_folder(entry)]
            waiting += [os.path.realpath(entry.path) if entry.is_symlink() else entry.path for entry in inner]
    return frozenset(found)


def look(root: Path, tops: Iterable[str]) -> dict[str, Signature]:
    """The files below ``tops``, by path relative to ``root``. What cannot be read is left out."""
    return dict(entry for folder in folders_below(root, tops) for entry in _files(root, folder))


def changed(before: Mapping[str, Signature], after: Mapping[str, Signature]) -> set[str]:
    """The paths that came, went, or are not what they were."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def network_filesystem(path: Path) -> str | None:
    """The type of the file system at ``path`` if it is one on which changes made elsewhere give no notice."""
    if sys.platform != "linux":
        return None
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
            mounts = [line.split() for line in table]
    except OSError:
        return None
    above = {str(folder) for folder in (path, *path.parents)}
    found = [
        (len(_unescaped(fields[4])), fields[fields.index("-") + 1])
        for fields in mounts
        if _unescaped(fields[4]) in above
    ]
    kind = max(found, key=lambda mount: mount[0])[1] if found else ""
    return kind if kind in _NETWORK or kind.startswith("fuse.") else None


def _entries(folder: str) -> list[os.DirEntry[str]] | None:
    """None for what is no folder any more; a folder that may not be read is empty, but there."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except PermissionError:
        return []
    except OSError:
        return None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link that leads in a circle, or to where nobody may look, is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _files(root: Path, folder: str) -> Iterator[tuple[str, Signature]]:
    for entry in _entries(folder) or ():
        try:
            if not entry.is_dir():
                yield os.path.relpath(entry.path, root).replace(os.sep, "/"), signature_of(os.stat(entry.path))
        except OSError:
            continue


def _unescaped(mount_point: str) -> str:
    return mount_point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
