"""Lines of text with named inks: what a view function returns, before there is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import pairwise

from rich.cells import cell_len, set_cell_size

from evatui.kernel.model.text import clean_line

__all__ = [
    "EMPTY",
    "Ink",
    "Line",
    "Span",
    "fit",
    "join",
    "line",
    "measure",
    "plain",
    "prose",
    "safe",
    "wrap",
    "wrapped",
]


class Ink(StrEnum):
    """What a piece of text means; the palette gives it a colour, and a weight where there are none."""

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    OK = "ok"
    WARN = "warn"
    BAD = "bad"
    INFO = "info"
    KEY = "key"
    LIT = "lit"
    HERE = "here"


Span = tuple[str, Ink]
Line = tuple[Span, ...]

EMPTY: Line = ()

_READABLE = 100
"""Cells of a line of prose."""


def line(*parts: str | Span) -> Line:
    """A line of its parts; a bare string is plain, and empty parts are left out."""
    spans = ((part, Ink.PLAIN) if isinstance(part, str) else part for part in parts)
    return tuple(span for span in spans if span[0])


def join(parts: Iterable[Line], gap: str = "  ") -> Line:
    """The lines of ``parts`` one after the other, with ``gap`` between those that are not empty."""
    spans: list[Span] = []
    for part in parts:
        if part and spans:
            spans.append((gap, Ink.PLAIN))
        spans.extend(part)
    return tuple(spans)


def plain(content: Line) -> str:
    return "".join(text for text, _ in content)


def safe(text: str) -> str:
    """``text`` as one line that cannot move a cursor.

    Snapshots are clean already; this is the last fence, for answers of commands and what was pasted.
    """
    return text if text.isprintable() else clean_line(text, len(text) + 1)


def measure(content: Line) -> int:
    """Width in terminal cells."""
    return sum(cell_len(text) for text, _ in content)


def fit(content: Line, width: int, *, right: bool = False) -> Line:
    """``content`` in exactly ``width`` cells: padded, or cut with an ellipsis."""
    used = measure(content)
    if used <= width:
        pad: Line = ((" " * (width - used), Ink.PLAIN),) if used < width else ()
        return pad + content if right else content + pad
    return _cut(content, width)


def _cut(content: Line, width: int) -> Line:
    if width <= 0:
        return ()
    spans: list[Span] = []
    left = width - 1
    for text, ink in content:
        size = cell_len(text)
        if size > left:
            spans.append((set_cell_size(text, left).rstrip(" ") if left else "", ink))
            break
        spans.append((text, ink))
        left -= size
    used = sum(cell_len(text) for text, _ in spans)
    last = spans[-1][1] if spans else Ink.PLAIN
    return (*(span for span in spans if span[0]), ("…", last), (" " * (width - used - 1), Ink.PLAIN))


def wrap(content: Line, width: int, indent: str = "") -> Sequence[Line]:
    """``content`` over as many lines as it takes, broken at spaces where there are any."""
    if measure(content) <= width or width <= len(indent) + 1:
        return (content,)
    lines: list[Line] = []
    current: list[Span] = []
    left = width
    for word, ink in _words(content):
        rest, size = word, cell_len(word)
        if current and size > left and (left < 1 or size <= width - len(indent)):
            lines.append(line(*current))
            current, left = [(indent, Ink.PLAIN)], width - len(indent)
            rest = rest.lstrip(" ")
        *heads, rest = _pieces(rest, left, width - len(indent))
        for head in heads:
            lines.append(line(*current, (head.rstrip(" "), ink)))
            current, left = [(indent, Ink.PLAIN)], width - len(indent)
        current.append((rest, ink))
        left -= cell_len(rest)
    return (*lines, line(*current))


def prose(lines: Sequence[Line], width: int) -> list[Line]:
    """Lines of text to read, no longer than one reads well."""
    return [part for row in lines for part in wrap(row, min(width, _READABLE))]


def wrapped(lines: Sequence[Line]) -> Callable[[int], list[Line]]:
    """A page of ``lines`` for any width; what goes on in the next line is indented."""
    return lambda width: [part for row in lines for part in wrap(row, width, "    ")]


def _pieces(text: str, first: int, others: int) -> list[str]:
    """``text`` in pieces of so many cells, at least one character each. One pass: a word may be all of an answer."""
    if cell_len(text) <= first:
        return [text]
    if text.isascii():  # a cell each
        cuts = (0, *range(max(first, 1), len(text), others), len(text))
        return [text[start:end] for start, end in pairwise(cuts)]
    pieces: list[str] = []
    start, used, room = 0, 0, first
    for index, sign in enumerate(text):
        size = cell_len(sign)
        if used + size > room and index > start:
            pieces.append(text[start:index])
            start, used, room = index, 0, others
        used += size
    return [*pieces, text[start:]]


def _words(content: Line) -> Iterable[Span]:
    for text, ink in content:
        start = 0
        for index in range(1, len(text)):
            if text[index] == " " and text[index - 1] != " ":
                yield text[start:index], ink
                start = index
        yield text[start:], ink
