"""The rows of the view Rejected: whatever is on disk and does not serve."""

from __future__ import annotations

from evatui.console.view.ink import EMPTY, Ink, line
from evatui.console.view.rows import folded
from evatui.console.view.table import Column, Row
from evatui.console.view.words import WAITS, Look, clock
from evatui.control.deciding import HeldRow, IdleRow
from evatui.control.snapshot import ConsoleSnapshot, RejectionRow
from evatui.kernel.model.ids import fold

__all__ = ["REJECTED_COLUMNS", "rejected_rows"]

REJECTED_COLUMNS = (
    Column(title="WHAT", width=18, flex=3),
    Column(title="CODE", width=7),
    Column(title="PLACE", width=14, flex=4, need=60),
    Column(title="SERVES", width=6),
    Column(title="SINCE", width=8, need=52),
)


def rejected_rows(snapshot: ConsoleSnapshot, look: Look) -> list[Row]:
    """What is refused, then what waits for a person, then the files that define nothing."""
    return [
        *(_rejected_row(row, look) for row in snapshot.rejections),
        *(_held_row(row, look) for row in snapshot.held),
        *(_idle_row(row) for row in snapshot.idle),
    ]


def _rejected_row(row: RejectionRow, look: Look) -> Row:
    first = row.diagnostics[0] if row.diagnostics else None
    place = first.primary if first else None
    where = f"{place.file}:{place.line}:{place.column}" if place else row.path
    name = where.rpartition("/")[2]  # the line matters more than the folder, which the card has
    code = first.code if first else "–"
    more = f" +{len(row.diagnostics) - 1}" if len(row.diagnostics) > 1 else ""
    return Row(
        key=row.key,
        cells=(
            line((f"{look.text('✗')} {row.id or row.path}", Ink.BAD)),
            line(code),
            line((name, Ink.DIM), (more, Ink.WARN)),
            line((row.serving or "–", Ink.OK if row.serving else Ink.DIM)),
            line((clock(row.at, look), Ink.DIM)),
        ),
        order=(fold(row.key), code, where, row.serving or "", row.at),
        folded=folded(row.key, row.path, *(f"{item.code} {item.message}" for item in row.diagnostics), cap=row.id),
    )


def _held_row(row: HeldRow, look: Look) -> Row:
    first = row.diagnostics[0] if row.diagnostics else None
    code = first.code if first else "–"
    what = WAITS[row.waits_for]
    return Row(
        key=row.key,
        cells=(
            line((f"{look.text('◌')} {row.id}", Ink.WARN)),
            line(code),
            line((what, Ink.WARN)),
            line((row.serving or "–", Ink.OK if row.serving else Ink.DIM)),
            line((clock(row.since, look), Ink.DIM)),
        ),
        order=(fold(row.key), code, what, row.serving or "", row.since),
        folded=folded(
            row.id, row.path, what, "held", *(f"{item.code} {item.message}" for item in row.diagnostics), cap=row.id
        ),
    )


def _idle_row(row: IdleRow) -> Row:
    return Row(
        key=row.key,
        cells=(
            line((f"· {row.path}", Ink.DIM)),
            line(("–", Ink.DIM)),
            line((row.why, Ink.DIM)),
            line(("–", Ink.DIM)),
            EMPTY,
        ),
        order=(fold(row.key), "", row.why, "", ""),
        folded=folded(row.path, row.why, "defines nothing"),
    )
