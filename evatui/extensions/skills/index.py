"""The index of skills that an agent's system prompt gets: XML in the shape that octos has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from evatui.extensions.skills.catalogue import Listed

__all__ = ["index"]

_UNFIT = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no place for, and the control characters that it has one for."""
_ESCAPES = {ord(char): f"&#{ord(char)};" for char in "\r"} | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&apos;",
}


def index(skills: Iterable[Listed]) -> str:
    """All of them in the order given, also those that cannot be used, but for those by hand; empty for none.

    Descriptions are whole, but for control characters, which are left out.
    """
    lines = [line for skill in skills if not skill.copy.skill.by_hand for line in _lines(skill)]
    return "\n".join(["<skills>", *lines, "</skills>"]) if lines else ""


def _lines(listed: Listed) -> Iterator[str]:
    copy = listed.copy
    yield f'  <skill available="{_flag(listed.available)}" tools="{_flag(copy.tools)}">'
    yield f"    <name>{_escaped(listed.name)}</name>"
    yield f"    <description>{_escaped(copy.skill.description)}</description>"
    yield f"    <location>{_escaped(copy.location)}</location>"
    yield "  </skill>"


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _escaped(text: str) -> str:
    return _UNFIT.sub("", text).translate(_ESCAPES)
