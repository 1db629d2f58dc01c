"""A skill with the text that an agent reads."""

from __future__ import annotations

from evatui.console.view.extensions import extension_preview
from evatui.console.view.ink import EMPTY, Line, line, wrap
from evatui.control.extensions import SkillRow
from evatui.kernel.model.text import clean

__all__ = ["skill_text"]


def skill_text(row: SkillRow, body: str, width: int) -> list[Line]:
    """What is said of it, and behind it ``body``, as it is but for what could steer a terminal."""
    told = (line(text) for text in clean(body, len(body) + 1).replace("\t", "    ").split("\n"))
    return [*extension_preview(row, width), EMPTY, *(part for each in told for part in wrap(each, width))]
