"""What belongs to no workspace: the libraries, and the limits that the system sets to this process."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from evatui.control.doctor.check import Check

try:
    import resource
except ImportError:  # Windows: no such limits
    resource = None  # type: ignore[assignment]

__all__ = ["check_libraries", "check_limits", "libraries", "limits"]

_FILES = 1_024
_WATCHES = 8_192
_INOTIFY = Path("/proc/sys/fs/inotify")
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(?P<wanted>[^;]*)(?P<marker>;.*)?")


def libraries() -> dict[str, dict[str, Any]]:
    """``{name: {version, wanted}}`` of Python and of what evatui is built on; ``version`` null where it is missing."""
    found: dict[str, dict[str, Any]] = {"python": {"version": platform.python_version(), "wanted": ">=3.11"}}
    for line in sorted(_required()):
        match = _REQUIREMENT.fullmatch(line)
        if match is not None and not match["marker"]:
            found[match["name"]] = {"version": _version(match["name"]), "wanted": match["wanted"].strip()}
    return found


def _required() -> list[str]:
    try:
        return requires("evatui") or []
    except PackageNotFoundError:  # run from a checkout that was never installed
        return []


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def check_libraries(found: dict[str, dict[str, Any]]) -> Check:
    """Those that are pinned must be exactly that version: what rests on their inside was proven on it."""
    wrong = [
        f"{name} is {entry['version'] or 'missing'}, wanted {entry['wanted']}"
        for name, entry in found.items()
        if entry["version"] is None or _another(entry["version"], entry["wanted"])
    ]
    detail = "; ".join(wrong) or f"{len(found)} there, the pinned ones at their versions"
    return Check("libraries", not wrong, detail, "Install evatui again." if wrong else "")


def _another(there: str, wanted: str) -> bool:
    return wanted.startswith("==") and wanted != f"=={there}"


def limits() -> dict[str, Any]:
    """``open_files`` and ``inotify`` are null where the system has no such thing; a limit of -1 is none."""
    return {"open_files": _open_files(), "inotify": _inotify(), "cpus": os.cpu_count()}


def _open_files() -> dict[str, int] | None:
    if resource is None:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return {"soft": _number(soft), "hard": _number(hard)}


def _number(limit: int) -> int:
    return -1 if limit == resource.RLIM_INFINITY else limit


def _inotify() -> dict[str, int] | None:
    try:
        return {name: int((_INOTIFY / f"max_user_{name}").read_text()) for name in ("watches", "instances")}
    except (OSError, ValueError):
        return None


def check_limits(found: dict[str, Any]) -> list[Check]:
    checks = []
    if files := found["open_files"]:
        soft = files["soft"]
        enough = soft == -1 or soft >= _FILES
        fix = "" if enough else f"Raise it before the start: ulimit -n {4 * _FILES}"
        shown = "without a limit" if soft == -1 else f"{soft:,} allowed"
        checks.append(Check("open files", enough, shown, fix))
    if inotify := found["inotify"]:
        enough = inotify["watches"] >= _WATCHES
        fix = "" if enough else f"sysctl fs.inotify.max_user_watches={16 * _WATCHES}, or watch: {{polling: true}}"
        shown = f"{inotify['watches']:,} watches, {inotify['instances']:,} instances for each user"
        checks.append(Check("file watching", enough, shown, fix))
    elif sys.platform == "linux":
        checks.append(Check("file watching", True, "no inotify here: files are looked at again and again instead"))
    return checks
