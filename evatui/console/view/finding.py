"""Where in a list a row stands, and which is another than before."""

from __future__ import annotations

from collections.abc import Sequence

from evatui.console.view.table import Query, Row

__all__ = ["differ", "next_match", "place_of"]


def place_of(rows: Sequence[Row], key: str | None, near: int = 0) -> int | None:
    """Where the row with ``key`` stands, quickly where it is the one at ``near``; none where it is not there."""
    if near < len(rows) and rows[near].key == key:
        return near
    return next((index for index, row in enumerate(rows) if row.key == key), None)


def next_match(rows: Sequence[Row], pattern: Query, here: int, step: int) -> int | None:
    """The next place in the direction of ``step`` that ``pattern`` matches, round the end and ``here`` at last."""
    matching = {row.key for row in pattern.select(rows)} if pattern else set()
    places = ((here + step * distance) % len(rows) for distance in range(1, len(rows) + 1))
    return next((place for place in places if rows[place].key in matching), None)


def differ(before: Sequence[Row], after: Sequence[Row], place: int) -> bool:
    """Does another row stand at ``place``, or one that came or went."""
    old = before[place] if place < len(before) else None
    new = after[place] if place < len(after) else None
    return old is not new and old != new
