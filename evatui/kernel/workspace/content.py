"""The bytes of a file that is open."""

from __future__ import annotations

import os
import stat

from evatui.kernel.workspace.found import FileProblem, ProblemKind

__all__ = ["content", "regular"]

_CHUNK = 1 << 16


def content(path: str, descriptor: int, size: int, limit: int) -> bytes:
    """At most ``limit`` bytes, counted while they are read: a file may grow or shrink, and some report no size at all.

    Raises `FileProblem` TOO_LARGE.
    """
    data = os.read(descriptor, size + 1) if size <= limit else b""
    if len(data) == size:  # and not one more, as was asked for
        return data
    chunks, total = [data], len(data)
    while data and total <= limit:
        data = os.read(descriptor, min(_CHUNK, limit + 1 - total))
        chunks.append(data)
        total += len(data)
    if max(total, size) > limit:
        raise FileProblem(path, ProblemKind.TOO_LARGE, f"it has more than {limit:,} bytes")
    return b"".join(chunks)


def regular(path: str, found: os.stat_result) -> None:
    """Raises `FileProblem` NOT_REGULAR for what is no regular file."""
    if not stat.S_ISREG(found.st_mode):
        raise FileProblem(path, ProblemKind.NOT_REGULAR, "it is a pipe, a socket or a device")
