"""Who is at the other end of a socket, and who may put another one in its place, as the system tells it."""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
from pathlib import Path
from typing import Any

__all__ = ["is_admitted", "is_private"]

_LOCAL_PEERCRED = 1
"""macOS: of level 0, answered with a version and the effective user."""


def is_admitted(peer: Any) -> bool:
    """Is it this user or root at the other end of ``peer``, a Unix socket? True as well where the system cannot tell.

    The mode of the socket keeps others out already; this holds where that was widened. Who has left already is nobody.
    """
    try:
        user = _user_of(peer)
    except OSError:
        return False
    return user is None or user in (0, os.geteuid())


def is_private(folder: Path) -> bool:
    """Is it this user's, and theirs alone? Raises `OSError` where it is not there."""
    found = folder.stat()
    return found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077


def _user_of(peer: Any) -> int | None:
    if hasattr(socket, "SO_PEERCRED"):
        return int(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    if sys.platform == "darwin":
        return int(struct.unpack_from("II", peer.getsockopt(0, _LOCAL_PEERCRED, 76))[1])
    return None
