"""Which columns of a table a terminal has room for, and which of them keep their words whole."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

__all__ = ["GAP", "fitting", "whole"]

GAP = 2
"""Blanks between two columns."""


def fitting(names: Sequence[str], rows: Sequence[Sequence[Text]], spare: Sequence[str], room: int) -> tuple[int, ...]:
    """The columns to show in ``room``, by number: all where they fit. Else those go that are empty, then those of
    ``spare``, the first one first, and no more of them than must."""
    widths = _widths(names, rows)
    kept = list(range(len(names)))
    empty = [index for index in kept if not any(row[index].plain for row in rows)]
    for index in (*empty, *map(names.index, spare)):
        if _needed([widths[one] for one in kept]) <= room:
            break
        if index in kept:
            kept.remove(index)
    return tuple(kept)


def whole(names: Sequence[str], rows: Sequence[Sequence[Text]], room: int) -> frozenset[int]:
    """The columns whose cells are single words, ids for one, where there is room for all of these: what is broken in
    the middle cannot be copied. Prose gives way to them."""
    words = [index for index in range(len(names)) if not any(" " in row[index].plain for row in rows)]
    widths = _widths(names, rows)
    rest = [cell_len(names[index]) for index in range(len(names)) if index not in words]
    return frozenset(words) if _needed([*(widths[index] for index in words), *rest]) <= room else frozenset()


def _widths(names: Sequence[str], rows: Sequence[Sequence[Text]]) -> list[int]:
    return [max(cell_len(name), *(row[index].cell_len for row in rows), 0) for index, name in enumerate(names)]


def _needed(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)
