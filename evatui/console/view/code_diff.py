"""The lines in which two files differ: one under the other, or side by side. Pure, and to be made off the loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from evatui.console.view.ink import Ink, Line, Span, fit, line, wrap

__all__ = ["MAX_ROWS", "SIDE_BY_SIDE", "DiffRow", "diff_rows", "shown"]

SIDE_BY_SIDE = 110
"""Columns from which on both sides have room beside each other: those of a page on a screen of 120."""
MAX_ROWS = 2_000
_INTRALINE_CHARS = 400
_INTRALINE_PAIRS = 500
_NUMBER = 5

Half = tuple[int | None, str, tuple[int, int] | None]
"""The number of a line, its text, and the part of it that differs; None where all of it does."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of both, or what one of them has in its place. ``gap``: lines before it are left out."""

    old: Half | None
    new: Half | None
    same: bool = False
    gap: bool = False


Given = Sequence[object]
"""``[mark, old, new, text]``, as the kernel tells it."""


def diff_rows(lines: Iterable[Given]) -> list[DiffRow]:
    """At most `MAX_ROWS`; what was removed stands beside what was put in its place."""
    rows: list[DiffRow] = []
    removed: list[tuple[int | None, str]] = []
    added: list[tuple[int | None, str]] = []
    budget = [_INTRALINE_PAIRS]
    last = 0
    for mark, old, new, text in lines:
        if len(rows) >= MAX_ROWS:
            break
        known_old, known_new = (number if isinstance(number, int) else None for number in (old, new))
        if mark == "-" and not added:
            removed.append((known_old, str(text)))
        elif mark == "+":
            added.append((known_new, str(text)))
        else:
            rows += _paired(removed, added, budget)
            removed, added = [], []
            if mark == "-":
                removed.append((known_old, str(text)))
                continue
            gap = bool(rows) and known_new is not None and known_new > _last_new(rows, last) + 1
            last = known_new or last
            rows.append(DiffRow((known_old, str(text), None), (known_new, str(text), None), same=True, gap=gap))
    rows += _paired(removed, added, budget)
    return rows[:MAX_ROWS]


def _last_new(rows: Sequence[DiffRow], last: int) -> int:
    return max(last, next((row.new[0] or 0 for row in reversed(rows) if row.new is not None), 0))


def _paired(
    removed: Sequence[tuple[int | None, str]], added: Sequence[tuple[int | None, str]], budget: list[int]
) -> Iterator[DiffRow]:
    for before, after in zip_longest(removed, added):
        if before is None or after is None:
            yield DiffRow((*before, None) if before else None, (*after, None) if after else None)
            continue
        parts: tuple[tuple[int, int], tuple[int, int]] | None = None
        if budget[0] > 0 and max(len(before[1]), len(after[1])) < _INTRALINE_CHARS:
            budget[0] -= 1
            parts = _differing(before[1], after[1])
        yield DiffRow((*before, parts[0] if parts else None), (*after, parts[1] if parts else None))


def _differing(old: str, new: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where both begin and cease to differ; None where they have too little in common for that to say anything."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-n - 1] != new[-n - 1]), shorter - head)
    common = len(old[:head].strip()) + len(old[len(old) - tail :].strip())
    if common * 3 < shorter:
        return None
    return (head, len(old) - tail), (head, len(new) - tail)


def shown(rows: Sequence[DiffRow], width: int) -> list[Line]:
    """Side by side where ``width`` has room for it; else one under the other, long lines over several."""
    lines: list[Line] = []
    for row in rows:
        if row.gap:
            lines.append(line(("     …", Ink.DIM)))
        lines += [_beside(row, width)] if width >= SIDE_BY_SIDE else _under(row, width)
    return lines


def _beside(row: DiffRow, width: int) -> Line:
    half = (width - 3) // 2
    left, right = (
        fit(_half(side, mark, ink, row.same), half)
        for side, mark, ink in ((row.old, "−", Ink.BAD), (row.new, "+", Ink.OK))
    )
    return line(*left, (" │ ", Ink.DIM), *right)


def _under(row: DiffRow, width: int) -> Iterator[Line]:
    indent = " " * (_NUMBER + 3)
    if row.same:
        yield from wrap(_half(row.new, " ", Ink.PLAIN, True), width, indent)
        return
    for side, mark, ink in ((row.old, "−", Ink.BAD), (row.new, "+", Ink.OK)):
        if side is not None:
            yield from wrap(_half(side, mark, ink, False), width, indent)


def _half(side: Half | None, mark: str, ink: Ink, same: bool) -> Line:
    if side is None:
        return ()
    number, text, part = side
    count: Span = (f"{number if number is not None else '':>{_NUMBER}} ", Ink.DIM)
    if same:
        return line(count, "  ", text)
    if part is None:
        return line(count, (f"{mark} {text}", ink))
    start, end = part
    return line(count, (f"{mark} ", ink), text[:start], (text[start:end], ink), text[end:])
