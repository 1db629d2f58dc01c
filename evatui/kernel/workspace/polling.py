"""Where the system gives no notices: looking again and again, and where that is known beforehand."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evatui.kernel.workspace.files import Signature, signature_of

__all__ = ["UNWATCHED", "changed", "look", "network_filesystem"]

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


def look(root: Path, folders: Iterable[str]) -> dict[str, Signature]:
    """What lies below the folders, by path relative to ``root``. What cannot be read is left out."""
    return dict(entry for folder in folders for entry in _below(root, folder))


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


def _below(root: Path, folder: str) -> Iterator[tuple[str, Signature]]:
    for parent, folders, names in os.walk(root / folder):
        folders[:] = [name for name in folders if name not in UNWATCHED]
        for name in names:
            path = os.path.join(parent, name)
            try:
                found = os.stat(path)
            except OSError:
                continue
            yield os.path.relpath(path, root).replace(os.sep, "/"), signature_of(found)


def _unescaped(mount_point: str) -> str:
    return mount_point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
