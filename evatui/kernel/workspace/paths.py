"""The grammar of paths in the workspace: ``/`` on every platform, relative, and never upwards."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable

__all__ = ["HERE", "InvalidPath", "is_plain", "is_under", "normal", "parts_of", "under_any"]

HERE = "."
"""The workspace itself."""
_MAX_LENGTH = 4096
_MAX_PARTS = 64
_PLAIN = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}/){0,15}[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}", re.ASCII)


class InvalidPath(ValueError):
    """Not a path inside the workspace; the text says why, without the path."""


@functools.lru_cache(1_024)
def is_plain(path: str) -> bool:
    """Is it, at a glance, `normal` already? Most are, and each is asked about several times in a row."""
    return _PLAIN.fullmatch(path) is not None


def parts_of(path: str) -> list[str]:
    """The components of ``path``, ``.`` and empty ones dropped. Raises `InvalidPath`."""
    if is_plain(path):
        return path.split("/")
    if not path:
        raise InvalidPath("the path is empty")
    if len(path) > _MAX_LENGTH:
        raise InvalidPath("the path is too long")
    if "\\" in path:
        raise InvalidPath("paths use / on every platform, never \\")
    if path.startswith(("/", "~")) or path[1:2] == ":" or (os.name == "nt" and ":" in path):
        raise InvalidPath("the path must be relative to the workspace")
    if not path.isprintable():
        raise InvalidPath("the path holds characters that cannot be shown")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InvalidPath("the path must not lead upwards (`..`)")
    if len(parts) > _MAX_PARTS:
        raise InvalidPath("the path has too many parts")
    return parts


def normal(path: str) -> str:
    """``path`` written the one way: ``a/b`` for ``./a//b/``, `HERE` for the workspace. Raises `InvalidPath`."""
    return path if is_plain(path) else "/".join(parts_of(path)) or HERE


def is_under(folder: str, path: str) -> bool:
    """Is ``path`` the ``folder`` or inside it? Both are normal."""
    return folder in (HERE, path) or path.startswith(folder + "/")


def under_any(folders: Iterable[str], path: str) -> bool:
    """`is_under` of one of them: of few folders, asked for every file."""
    known = tuple(folders)
    return path.startswith(_beginnings(known)) or path in known


@functools.lru_cache
def _beginnings(folders: tuple[str, ...]) -> tuple[str, ...]:
    """With which every path inside one of them begins."""
    return tuple("" if folder == HERE else f"{folder}/" for folder in folders)
