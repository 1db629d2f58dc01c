"""Names of files that editors leave while they save."""

from __future__ import annotations

import re

__all__ = ["is_editor_file", "is_hidden"]

_EDITOR_FILE = re.compile(
    r".*~|4913|#.*#|\.#.*|\..*\.sw[a-z]|\..*\.kate-swp|.*___jb_(tmp|old)___|.*\.(tmp|bak|orig|rej|part|crdownload)",
    re.IGNORECASE | re.DOTALL,
)


def is_editor_file(name: str) -> bool:
    """``x~``, ``4913``, ``#x#``, ``.#x``, ``.x.swp``, ``x.tmp`` and the like."""
    return _EDITOR_FILE.fullmatch(name) is not None


def is_hidden(name: str) -> bool:
    return name.startswith(".") or is_editor_file(name)
