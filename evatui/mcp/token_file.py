"""The token that lets whoever can read a file of this workspace in, where the policy names no principals."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind

__all__ = ["local_token", "token_file"]

_MAX_BYTES = 4_096
_SHORTEST = 32


def token_file(state_dir: Path) -> Path:
    return state_dir / "mcp.token"


def local_token(state_dir: Path) -> str:
    """The token of this workspace, made at first use and kept in `token_file`, which nobody else may read; blocking.

    One that others could have read is replaced. Raises `CommandFailed` where the file cannot be written.
    """
    path = token_file(state_dir)
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _kept(path) or _made(path)
    except OSError as problem:
        message = f"the file for the token cannot be written: {(problem.strerror or 'unknown').lower()}"
        raise CommandFailed(ErrorKind.UNAVAILABLE, message, suggestion="name principals in the policy") from None


def _kept(path: Path) -> str | None:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(file.fileno())
        mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        alone = os.name == "nt" or not found.st_mode & 0o077
        token = file.read(_MAX_BYTES).decode("ascii", "replace").strip()
    return token if mine and alone and stat.S_ISREG(found.st_mode) and len(token) >= _SHORTEST else None


def _made(path: Path) -> str:
    token = secrets.token_urlsafe(32)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{token}\n")
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    return token
