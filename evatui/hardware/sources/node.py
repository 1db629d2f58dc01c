"""The file in /dev that opens a device: is it there, is it still the same one, may this process open it?"""

from __future__ import annotations

import hashlib
import os
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final

from evatui.hardware.fix import group_fix, udev_fix
from evatui.hardware.sighting import Access, Bus
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind

try:
    import grp
except ImportError:  # Windows has neither groups nor nodes
    grp = None  # type: ignore[assignment]

__all__ = ["glance_at_nodes", "look_at_node", "refuse_another"]

_FOLDER = "/dev"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_CONTAINER = "start the container with the device, and again after it was plugged in anew"


def _boot() -> str:
    try:
        return _BOOT_ID.read_text()
    except OSError:
        return str(uuid.uuid4())  # then nothing is known from before this process


_BOOT: Final = _boot()
"""Nodes are numbered from 1 at each boot."""


def glance_at_nodes(*names: str) -> object:
    """What tells one node from another, and from itself with other permissions, of all in /dev with such names; None
    where that cannot be known. A number right after such a name is that of a terminal, which changes as somebody
    types."""
    try:
        there = sorted(os.listdir(_FOLDER)) if sys.platform == "linux" else None
    except OSError:
        there = None
    if there is None:
        return None
    found = []
    for name in there:
        if name.startswith(names) and not name[3:4].isdigit():
            with suppress(OSError):
                seen = os.stat(f"{_FOLDER}/{name}")
                which, whose = (seen.st_ino, seen.st_rdev, seen.st_ctime_ns), (seen.st_mode, seen.st_uid, seen.st_gid)
                found.append((name, which, whose))
    return found


def look_at_node(path: str, bus: Bus, vendor: int | None, product: int | None) -> tuple[str, Access]:
    """What tells this time that it is plugged in from others, empty where nothing does; and may it be opened?"""
    if os.name != "posix" or not path.startswith("/"):
        return "", Access()
    try:
        found = os.stat(path)
    except OSError:
        return "", Access(False, "the system shows it, but it has no device node here", _CONTAINER)
    return _attachment(found), _access(path, found, bus, vendor, product)


def refuse_another(node: str | int, attachment: str) -> None:
    """Raises `Trouble` where what is at a path, or open under a number, is not what was seen there: it was plugged in
    since then, and may be anything. Raises `OSError` where nothing is."""
    if attachment and os.name == "posix" and _attachment(os.stat(node)) != attachment:
        message = "something else was plugged in there meanwhile"
        raise Trouble(ErrorKind.DEVICE_DISCONNECTED, message, retryable=True)


def _attachment(found: os.stat_result) -> str:
    parts = f"{_BOOT}\0{found.st_dev}\0{found.st_ino}\0{found.st_rdev}"
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def _access(path: str, found: os.stat_result, bus: Bus, vendor: int | None, product: int | None) -> Access:
    effective = os.access in os.supports_effective_ids
    if os.access(path, os.R_OK | os.W_OK, effective_ids=effective):
        return Access()
    group = _group(found.st_gid)
    mode = found.st_mode & 0o777
    reason = f"its node belongs to {'root' if found.st_uid == 0 else found.st_uid}:{group}, mode {mode:04o}"
    if mode & 0o060 == 0o060 and found.st_gid != 0:
        return Access(False, reason, group_fix(group))
    return Access(False, reason, udev_fix(bus, vendor, product))


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
