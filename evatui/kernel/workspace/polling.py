"""Where the system gives no notices: what is another than at the last look, and where that is known beforehand."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from evatui.kernel.workspace.files import Signature

__all__ = ["changed", "network_filesystem"]

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


def _unescaped(mount_point: str) -> str:
    return mount_point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
