"""Limits of the operating system for one worker."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from evatui.kernel.lua.worker.frames import MAX_REQUEST

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["available", "limit", "mapped"]

_BESIDE = 4 * MAX_REQUEST
"""Bytes that a worker may take beside the memory of its program: what it is sent and what it answers."""
_PAGES = Path("/proc/self/statm")


def available() -> bool:
    return resource is not None


def limit(memory_bytes: int, mapped_bytes: int) -> None:
    """No files, no processes, no core dumps, and beside what is mapped about twice what the program may use.

    The program's own limit is kept by its state, to the byte; this one is for a state that no longer does.
    """
    if resource is None:
        return
    for name in ("CORE", "FSIZE", "NPROC", "NOFILE"):
        _lower(getattr(resource, f"RLIMIT_{name}", None), 0)
    if mapped_bytes:
        _lower(resource.RLIMIT_AS, mapped_bytes + 2 * memory_bytes + _BESIDE)


def mapped() -> int:
    """Bytes of address space that this process has, 0 where the system does not say."""
    if resource is None or sys.platform != "linux":
        return 0
    return int(_PAGES.read_text("ascii").split()[0]) * resource.getpagesize()


def _lower(which: int | None, most: int) -> None:
    if which is not None:
        with contextlib.suppress(ValueError, OSError):  # a system that does not have this one
            resource.setrlimit(which, (most, most))
