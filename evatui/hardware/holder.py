"""Which other program has a device open? On Linux the system can be asked; elsewhere nobody knows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["Holder", "foreign_holder", "refuse_foreign_holder"]

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Holder:
    pid: int
    program: str


def foreign_holder(path: str) -> Holder | None:
    """The first other process that has the node open, as far as this one may see. Blocking: a millisecond or two."""
    try:
        node = os.stat(path)
        pids = [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:
        return None
    for pid in pids:
        if pid != os.getpid() and _has_open(pid, node):
            return Holder(pid, _program(pid))
    return None


def refuse_foreign_holder(path: str) -> None:
    """Raises `Trouble` ``DeviceBusy``, which names it."""
    holder = foreign_holder(path)
    if holder is not None:
        message = f"pid {holder.pid} ({holder.program}) has the device open"
        named = {"pid": holder.pid, "program": holder.program}
        raise Trouble(ErrorKind.DEVICE_BUSY, message, retryable=True, holder=named)


def _has_open(pid: int, node: os.stat_result) -> bool:
    folder = _PROC / str(pid) / "fd"
    try:
        return any(_is_same(folder / name, node) for name in os.listdir(folder))
    except OSError:  # it ended, or is another user's
        return False


def _is_same(descriptor: Path, node: os.stat_result) -> bool:
    try:
        found = os.stat(descriptor)
    except OSError:
        return False
    return (found.st_rdev, found.st_dev, found.st_ino) == (node.st_rdev, node.st_dev, node.st_ino)


def _program(pid: int) -> str:
    try:
        return clean_line((_PROC / str(pid) / "comm").read_text().strip(), 64)
    except OSError:
        return "unknown"
