"""Names of files that editors leave while they save."""

from __future__ import annotations

import re

__all__ = ["is_editor_file", "is_hidden"]

_EDITOR_FILE = re.compile(
    r".*~|4913|#.*#|\.#.*|\..*\.sw[a-z]|\..*\.kate-swp|.*___jb_(tmp|old)___|.*\.(tmp|bak|orig|rej|part|crdownload)",
    re.IGNORECASE | re.DOTALL,
)


_PLAINLY = (".yaml", ".yml", ".lua", ".json")
"""So ends no such file but one that begins with a dot."""


def is_editor_file(name: str) -> bool:
    """``x~``, ``4913``, ``#x#``, ``.#x``, ``.x.swp``, ``x.tmp`` and the like."""
    if name.endswith(_PLAINLY) and not name.startswith("."):
        return False
    return _EDITOR_FILE.fullmatch(name) is not None


def is_hidden(name: str) -> bool:
    return name.startswith(".") or (not name.endswith(_PLAINLY) and is_editor_file(name))
