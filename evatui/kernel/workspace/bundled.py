"""What the package brings along: samples of capabilities and skills."""

from __future__ import annotations

from pathlib import Path

import evatui

__all__ = ["bundled_skills", "bundled_workspace"]


def bundled_workspace() -> Path:
    """The folder that holds the bundled ``capabilities`` and ``schemas``: of the wheel, or of a source checkout."""
    package = Path(evatui.__file__).parent
    inside = package / "bundled"
    return inside if inside.is_dir() else package.parent


def bundled_skills() -> Path:
    return bundled_workspace() / "capabilities" / "extensions" / "skills"
