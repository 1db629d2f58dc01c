"""A ``SKILL.md`` taken apart: what stands between its two fences, and what follows them."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["FENCE", "Front", "NoFront", "split"]

FENCE = "---"
_BEFORE = re.compile(r"(?:\s+|<!--.*?-->)*", re.DOTALL)
_BREAKS = re.compile("\r\n?")


@dataclass(frozen=True, slots=True)
class Front:
    """``text`` keeps an empty line for each line of the file before it, so that its places are those of the file.

    ``line`` is that of the opening fence, 1-based; what stands ``before`` it is no part of anything.
    """

    text: str
    line: int
    before: str
    body: str


class NoFront(Exception):
    """There is no front matter; ``line`` is where it should have begun, or where the one that never ends begins."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def split(text: str) -> Front:
    """``text`` is without a byte order mark. Comments of HTML and empty lines may stand before the front matter.

    Line breaks of Windows become plain ones; so do those of old Macs where the file has no others. Raises `NoFront`.
    """
    text = _plain_breaks(text)
    start = _line_start(text, _BEFORE.match(text))
    lines = text[start:].split("\n")
    line = text.count("\n", 0, start) + 1
    if lines[0].rstrip() != FENCE:
        raise NoFront("there is no front matter: the file does not begin with a line ---", line)
    end = next((at for at, one in enumerate(lines[1:], 1) if one.rstrip() == FENCE), None)
    if end is None:
        raise NoFront("the front matter never ends: no line --- follows the first one", line)
    padded = "\n" * line + "\n".join(lines[1:end]) + "\n"
    return Front(padded, line, text[:start], "\n".join(lines[end + 1 :]).lstrip("\n"))


def _plain_breaks(text: str) -> str:
    return text.replace("\r\n", "\n") if "\n" in text else _BREAKS.sub("\n", text)


def _line_start(text: str, before: re.Match[str] | None) -> int:
    """Where the first line begins that has something in it."""
    end = before.end() if before else 0
    return text.rfind("\n", 0, end) + 1
