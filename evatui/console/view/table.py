"""Rows and columns of a list, and what the filter understands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from evatui.console.view.ink import Ink, Line, fit, line

__all__ = ["GAP", "Column", "Level", "Query", "Row", "head", "lay_out"]

GAP = 2
"""Cells between two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """``width`` cells, or about so many where ``flex`` shares out the rest; hidden below ``need`` cells in all."""

    title: str
    width: int
    flex: int = 0
    right: bool = False
    need: int = 0


class Level(IntEnum):
    """How much a row matters; a list shows those from one level on."""

    DETAIL = 0
    INFO = 1
    WARN = 2
    ERROR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """``cells`` for every column, also the hidden ones; ``order`` what each column sorts by."""

    key: str
    cells: tuple[Line, ...]
    order: tuple[str | float, ...]
    folded: str = field(default="", compare=False)
    """Case-folded text that the filter looks through, with words such as ``gen:g41``."""
    weight_ms: float | None = None
    """What ``>1s`` compares."""
    level: Level = Level.INFO
    whole: Line | None = None
    """In the place of the cells, over the whole width."""


def lay_out(row: Row, columns: Sequence[Column], shown: Sequence[tuple[int, int]]) -> Line:
    """The row as one line, cells at fixed places."""
    if row.whole is not None:
        return fit(row.whole, sum(width for _, width in shown) + GAP * (len(shown) - 1))
    return _spaced([fit(row.cells[index], width, right=columns[index].right) for index, width in shown])


def head(columns: Sequence[Column], shown: Sequence[tuple[int, int]], sorted_by: int | None, reverse: bool) -> Line:
    """The titles, the sorted one with an arrow, which a title makes room for."""
    cells = []
    for index, width in shown:
        arrow = ("▾" if reverse else "▴") if index == sorted_by else ""
        title = columns[index].title[: width - len(arrow)] + arrow
        cells.append(fit(line((title, Ink.DIM)), width, right=columns[index].right))
    return _spaced(cells)


def _spaced(cells: Sequence[Line]) -> Line:
    spans: list[tuple[str, Ink]] = []
    for index, cell in enumerate(cells):
        if index:
            spans.append((" " * GAP, Ink.PLAIN))
        spans.extend(cell)
    return tuple(spans)


_LONGER = re.compile(r">(\d+(?:\.\d+)?)(µs|us|ms|s)")
_UNITS = {"µs": 0.001, "us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True, slots=True)
class Query:
    """A filter: every word must be found; ``!word`` must not be; ``>1s`` wants a longer duration.

    A field with its value begins like that; a generation or a request is the whole of it: ``gen:4`` is not g41.
    """

    text: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]
    longer_ms: float | None

    @classmethod
    def parse(cls, text: str) -> Query:
        wanted, unwanted, longer = [], [], None
        for word in text.casefold().split():
            if match := _LONGER.fullmatch(word):
                longer = float(match[1]) * _UNITS[match[2]]
            elif word.startswith("!"):
                unwanted += [_whole(word[1:])] if len(word) > 1 else []
            else:
                wanted.append(_whole(word))
        return cls(text, tuple(wanted), tuple(unwanted), longer)

    def __bool__(self) -> bool:
        return bool(self.wanted or self.unwanted or self.longer_ms is not None)

    def select(self, rows: Sequence[Row]) -> list[Row]:
        """The rows that match, in their order."""
        found = list(rows)
        for word in self.wanted:
            found = [row for row in found if word in row.folded]
        for word in self.unwanted:
            found = [row for row in found if word not in row.folded]
        if self.longer_ms is not None:
            found = [row for row in found if row.weight_ms is not None and row.weight_ms > self.longer_ms]
        return found


def _whole(word: str) -> str:
    name, found, value = word.partition(":")
    if not value or name not in ("gen", "req"):
        return word
    number = "g" if name == "gen" and value.isdigit() else ""
    return f"{name}{found}{number}{value} "
