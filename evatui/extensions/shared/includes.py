"""Texts that a manifest includes in prompts: how many there may be, and which files its patterns mean."""

from __future__ import annotations

from typing import Final

from evatui.kernel.host.glob import Glob

__all__ = ["MAX_PROMPT", "MAX_PROMPTS", "matches"]

MAX_PROMPT: Final = 1 << 18
"""Bytes of one text."""
MAX_PROMPTS: Final = 20
"""Texts of one manifest."""


def matches(pattern: Glob, path: str) -> bool:
    matched = pattern.start
    for name in path.split("/"):
        matched = pattern.step(matched, name)
    return pattern.accepts(matched)
