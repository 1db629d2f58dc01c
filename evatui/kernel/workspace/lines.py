"""Places in a text, as an editor counts them."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from evatui.kernel.model.diagnostic import Span

__all__ = ["Lines", "Place", "line_starts", "split_lines"]

_LINE_BREAK = re.compile("\r\n|\n")
_OLD_LINE_BREAK = re.compile("\r")


class Place(NamedTuple):
    """1-based; columns count characters (a byte order mark is none); the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def span(self, file: str, label: str = "", *, primary: bool = True) -> Span:
        return Span(file, self.line, self.column, self.end_line, self.end_column, label, primary)


def line_starts(text: str) -> list[int]:
    """The offset of each line. A carriage return alone ends a line only where the file has no other line breaks."""
    return [0, *(match.end() for match in _line_break(text).finditer(text))]


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends."""
    return _line_break(text).split(text)


def _line_break(text: str) -> re.Pattern[str]:
    return _LINE_BREAK if "\n" in text else _OLD_LINE_BREAK


class Lines:
    """Character offsets into places. Ends never fall on the empty line behind a last line break."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = line_starts(text)

    def place(self, start: int, end: int) -> Place:
        text = self.text
        while end > start and text[end - 1] in " \t\r\n":
            end -= 1
        if start >= len(text):
            start = end = len(text.rstrip("\r\n"))
        return Place(*self._at(start), *self._at(max(start, end)))

    def end(self) -> Place:
        at = self._at(len(self.text))
        return Place(*at, *at)

    def _at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
