"""The view Audit: the records since the console was opened, newest last, and older ones from disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evatui.console.panes.pane import Opened
from evatui.console.panes.stream import StreamPane
from evatui.console.view.actions import View
from evatui.console.view.card import record, record_brief, record_text
from evatui.console.view.empty import EMPTY_AUDIT, NOT_FOUND
from evatui.console.view.ink import Line
from evatui.console.view.numbers import Numbers
from evatui.console.view.older import Older
from evatui.console.view.rows import AUDIT_COLUMNS, audit_row
from evatui.console.view.table import Row
from evatui.console.view.words import Look
from evatui.control.snapshot import AuditRow, ConsoleSnapshot

__all__ = ["AuditPane"]

_KEPT = 20_000
_MOST = 120_000
"""With those from disk."""


class AuditPane(StreamPane):
    """Keeps the newest records, and those that were asked for."""

    view = View.AUDIT
    columns = AUDIT_COLUMNS
    nouns = ("record", "records")
    codes = ()

    def __init__(self, look: Look, numbers: Numbers) -> None:
        super().__init__(look, numbers)
        self._records: dict[str, AuditRow] = {}
        self._lines: list[Row] = []
        self._kept = _KEPT
        self._exhausted = False

    def gather(self, snapshot: ConsoleSnapshot) -> None:
        self.snapshot = snapshot
        fresh = [row for row in snapshot.audit if str(row.seq) not in self._records]
        if not fresh and self._lines:
            return
        self._records |= {str(row.seq): row for row in fresh}
        self._lines = [*self._lines, *map(self._line, fresh)][-self._kept :]
        for gone in list(self._records)[: max(0, len(self._records) - self._kept)]:
            del self._records[gone]
        self._changed(len(fresh))

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self.cursor_moved()

    def _line(self, row: AuditRow) -> Row:
        return audit_row(row, self.look, self.numbers.known)

    def _changed(self, came: int) -> None:
        self.grown(self._lines, came, NOT_FOUND if self._lines else EMPTY_AUDIT)

    @property
    def until(self) -> str:
        if not self._lines or self._exhausted or int(self._lines[0].key) <= 1:
            return ""
        return self._records[self._lines[0].key].at

    def add_older(self, rows: Sequence[AuditRow], *, more: bool) -> int:
        fresh = [row for row in rows if str(row.seq) not in self._records]
        self._exhausted = not more or not fresh or len(self._lines) + len(fresh) > _MOST
        self._kept = max(self._kept, len(self._lines) + len(fresh) + _KEPT)
        self._records = {str(row.seq): row for row in fresh} | self._records
        self._lines = [*map(self._line, fresh), *self._lines]
        self._changed(0)
        return len(fresh)

    def subject(self) -> AuditRow | Older | None:
        return self.older or self._row()

    def _row(self) -> AuditRow | None:
        return self._records.get(self.rows.key) if self.rows.key else None

    def preview_lines(self, width: int) -> list[Line]:
        row = self._row()
        if row is None:
            return []
        return record(row, width) if self.wide else record_brief(row, self.numbers.known, self.look)

    def opened(self) -> Opened | None:
        row = self._row()
        if row is None:
            return None
        return Opened(f"Record {row.seq}", lambda width: record(row, width), record_text(row))

    def copied(self) -> str:
        row = self._row()
        return record_text(row) if row else ""

    def exported(self) -> list[Mapping[str, Any]]:
        return [self._records[row.key].record for row in self.rows.shown if row.key in self._records]
