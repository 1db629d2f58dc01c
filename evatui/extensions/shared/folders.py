"""Folders that are skills or plugins: the files that they are known by, and paths in them."""

from __future__ import annotations

from typing import Final

from evatui.kernel.workspace.paths import HERE

__all__ = ["MANIFEST_FILE", "SKILL_FILE", "below"]

SKILL_FILE: Final = "SKILL.md"
MANIFEST_FILE: Final = "manifest.json"


def below(folder: str, path: str) -> str:
    """``path`` of the ``folder``; either may be `HERE`."""
    if HERE in (folder, path):
        return path if folder == HERE else folder
    return f"{folder}/{path}"
