"""How the columns of a list share the cells of a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from operator import is_not

from rich.cells import cell_len

from evatui.console.view.ink import Line
from evatui.console.view.table import GAP, Column, Row

__all__ = ["Longest", "longest_cells", "shown_columns"]

_MEASURED = 500
"""Rows that are looked at: the last ones, for a list that grows does so at its end."""


class Longest:
    """`longest_cells` of a list that is given again and again: rows that are the same ones are measured once.

    ``cells`` are those of the last one, empty before.
    """

    def __init__(self) -> None:
        self.cells: tuple[int, ...] = ()
        self._rows: Sequence[Row] = ()

    def of(self, rows: Sequence[Row], columns: Sequence[Column]) -> tuple[int, ...]:
        last = rows[-_MEASURED:]
        if len(last) != len(self._rows) or not self.cells or any(map(is_not, last, self._rows)):
            self._rows, self.cells = last, longest_cells(last, columns)
        return self.cells


def longest_cells(rows: Sequence[Row], columns: Sequence[Column]) -> tuple[int, ...]:
    """Cells that the longest entry of each column takes."""
    told = [row.cells for row in rows[-_MEASURED:] if row.whole is None]
    return tuple(max(map(_cells, column)) for column in zip(*told, strict=True)) or (0,) * len(columns)


def _cells(content: Line) -> int:
    # A list is measured at each change of it, and nearly all of its text is ASCII: a cell each.
    return sum(len(text) if text.isascii() else cell_len(text) for text, _ in content)


def shown_columns(columns: Sequence[Column], width: int, longest: Sequence[int] = ()) -> tuple[tuple[int, int], ...]:
    """Index and width of each column that is shown in ``width`` cells, and never more than these.

    Where room is short, columns with ``flex`` shrink to two thirds, then the last ones are left out. Where an
    entry of one would be cut (by ``longest``, the cells that each wants), others lend what they do not need.
    """
    chosen = [index for index, column in enumerate(columns) if column.need <= width]
    while len(chosen) > 1 and _total(_least(columns[index]) for index in chosen) > width:
        chosen.pop()
    tight = _total(columns[index].width for index in chosen) > width
    least = {index: _least(columns[index]) if tight else columns[index].width for index in chosen}
    spare = max(0, width - _total(least.values()))
    shares = sum(columns[index].flex for index in chosen)
    sizes = {}
    for index in chosen:
        column = columns[index]
        extra = spare * column.flex // shares if column.flex else 0
        spare -= extra
        shares -= column.flex
        sizes[index] = min(least[index] + extra, width)
    return tuple((_lent(columns, sizes, longest) if longest else sizes).items())


def _least(column: Column) -> int:
    return ceil(column.width * 2 / 3) if column.flex else column.width


def _total(sizes: Iterable[int]) -> int:
    each = tuple(sizes)
    return sum(each) + GAP * (len(each) - 1)


def _lent(columns: Sequence[Column], sizes: Mapping[int, int], longest: Sequence[int]) -> dict[int, int]:
    """The leftmost that is cut is helped first, by the rightmost that has room."""
    new = dict(sizes)
    free = {index: max(0, size - max(longest[index], len(columns[index].title))) for index, size in sizes.items()}
    for index in sizes:
        short = max(0, longest[index] - sizes[index])
        for lender in reversed(sizes):
            cells = min(short, free[lender])
            new[index] += cells
            new[lender] -= cells
            free[lender] -= cells
            short -= cells
    return new
