"""The workspace and its state folder as the system sees them: who may write, how much room there is, whose it is."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evatui.control.doctor.check import Check
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.layout import STATE_FOLDER, Layout
from evatui.kernel.workspace.lock import holder_of

__all__ = ["check_clock", "check_disk", "check_lock", "check_permissions", "disk", "lock", "permissions"]

_AHEAD_S = 5.0
"""Files may be this much younger than now: file systems and clocks are not exact."""


def permissions(layout: Layout) -> dict[str, Any]:
    """Of the workspace and the state folder: ``{exists, readable, writable, mode, mine}``; no paths."""
    return {"workspace": _access(layout.root), "state": _access(layout.state_dir)}


def _access(folder: Path) -> dict[str, Any]:
    try:
        found = folder.stat()
    except OSError:
        return {"exists": False, "readable": False, "writable": False, "mode": None, "mine": None}
    return {
        "exists": True,
        "readable": os.access(folder, os.R_OK | os.X_OK),
        "writable": os.access(folder, os.W_OK | os.X_OK),
        "mode": f"{stat.S_IMODE(found.st_mode):04o}",
        "mine": found.st_uid == os.getuid() if hasattr(os, "getuid") else None,
    }


def check_permissions(layout: Layout, found: dict[str, Any]) -> list[Check]:
    workspace, state = found["workspace"], found["state"]
    readable = Check("workspace", workspace["readable"], "it can be read", "")
    if not workspace["readable"]:
        readable = Check("workspace", False, "it cannot be read", "Give this user the right to read it.")
    return [readable, _check_state(layout, workspace, state)]


def _check_state(layout: Layout, workspace: dict[str, Any], state: dict[str, Any]) -> Check:
    name, folder = "state folder", _shown(layout)
    if not state["exists"]:
        possible = workspace["writable"] if layout.state_dir.parent == layout.root else True
        if possible:
            return Check(name, True, f"{folder} is made at the first start")
        fix = "Make the workspace writable, or name another folder with --state-dir."
        return Check(name, False, f"{folder} cannot be made: the workspace cannot be written", fix)
    if not state["writable"]:
        fix = "Make it writable for this user, or name another with --state-dir."
        return Check(name, False, f"{folder} cannot be written", fix)
    if state["mode"] is not None and os.name == "posix" and int(state["mode"], 8) & 0o077:
        return Check(name, False, f"{folder} is open to others ({state['mode']})", f"chmod 700 {folder}")
    return Check(name, True, f"{folder} is this user's alone")


def _shown(layout: Layout) -> str:
    """Without its place, where that is outside of the workspace."""
    return STATE_FOLDER if layout.state_dir.parent == layout.root else "the state folder"


def disk(layout: Layout) -> dict[str, int]:
    """Bytes free where the state folder is or will be, and what the audit log may come to."""
    folder = next(place for place in (layout.state_dir, *layout.state_dir.parents) if place.exists())
    wanted = layout.audit.rotate_bytes * layout.audit.keep_files
    return {"free_bytes": shutil.disk_usage(folder).free, "audit_bytes": wanted}


def check_disk(found: dict[str, int]) -> Check:
    free, wanted = found["free_bytes"], found["audit_bytes"]
    fix = "" if free >= wanted else "Make room, or keep less of the audit log (audit.keep_files in eva.yaml)."
    return Check("disk", free >= wanted, f"{_mib(free)} free; the audit log may take {_mib(wanted)}", fix)


def _mib(size: int) -> str:
    return f"{size >> 20:,} MiB"


def lock(layout: Layout) -> dict[str, Any] | None:
    """Who holds the workspace, null where nobody does."""
    holder = holder_of(layout.state_dir)
    if holder is None:
        return None
    return {"pid": holder.pid, "host": clean_line(holder.host, 64), "listens": holder.listens}


def check_lock(found: dict[str, Any] | None) -> Check:
    if found is None:
        return Check("lock", True, "nobody holds the workspace")
    who = f"pid {found['pid']} on {found['host']}"
    if found["host"] not in ("", clean_line(socket.gethostname(), 64)):
        fix = "Work there, or end it there: a lock over a network file system is not to be relied on."
        return Check("lock", False, f"held by {who}, another machine", fix)
    return Check("lock", True, f"held by {who}")


def check_clock(layout: Layout) -> Check:
    """A clock that went back gives records and generations wrong times; files of the future give it away."""
    now = time.time()
    ahead = max((_modified(path) - now for path in _kept(layout)), default=0.0)
    shown = dt.datetime.fromtimestamp(now, dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if ahead > _AHEAD_S:
        detail = f"it is {shown}, and files here are from {ahead:,.0f} s later"
        return Check("clock", False, detail, "Set the clock; then look at what was written meanwhile.")
    return Check("clock", True, f"it is {shown}")


def _kept(layout: Layout) -> Iterator[Path]:
    yield layout.state_dir / "state.db"
    yield from (layout.state_dir / "audit").glob("*.jsonl")


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
