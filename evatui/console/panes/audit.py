"""The view Audit: the records since the console was opened, newest last."""

from __future__ import annotations

from textual.app import ComposeResult

from evatui.console.panes.pane import Opened, Pane
from evatui.console.view.actions import View
from evatui.console.view.card import record, record_text
from evatui.console.view.empty import EMPTY_AUDIT, NOT_FOUND
from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.console.view.rows import AUDIT_COLUMNS, audit_row
from evatui.console.view.table import Row
from evatui.console.view.words import Look
from evatui.control.snapshot import AuditRow, ConsoleSnapshot

__all__ = ["AuditPane"]

_KEPT = 20_000


class AuditPane(Pane):
    """Keeps the newest records; following, the cursor stays on the last one."""

    view = View.AUDIT
    columns = AUDIT_COLUMNS
    noun = "records"

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self.rows.follow = True
        self._records: dict[str, AuditRow] = {}
        self._lines: list[Row] = []
        self._seen = 0

    def compose(self) -> ComposeResult:
        yield self.rows

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self.snapshot = snapshot
        fresh = [row for row in snapshot.audit if str(row.seq) not in self._records]
        if fresh or not self._lines:
            self._records |= {str(row.seq): row for row in fresh}
            self._lines = [*self._lines, *(audit_row(row, self.look) for row in fresh)][-_KEPT:]
            for gone in list(self._records)[: len(self._records) - _KEPT]:
                del self._records[gone]
            self.rows.set_rows(self._lines, NOT_FOUND if self._lines else EMPTY_AUDIT)
        self._mark_seen()

    def cursor_moved(self) -> None:
        self._mark_seen()

    def follow(self) -> None:
        super().follow()
        self._mark_seen()

    def subject(self) -> AuditRow | None:
        return self._records.get(self.rows.key) if self.rows.key else None

    def opened(self) -> Opened | None:
        row = self.subject()
        if row is None:
            return None
        return Opened(f"Record {row.seq}", lambda width: record(row, width), record_text(row))

    def copied(self) -> str:
        row = self.subject()
        return record_text(row) if row else ""

    def trail(self) -> Line:
        if self.snapshot is None:
            return EMPTY
        unseen = (int(self._lines[-1].key) if self._lines else 0) - self._seen
        following = line(("● follow", Ink.OK)) if self.rows.follow else line((f"+{unseen:,} new, f follows", Ink.WARN))
        return join((super().trail(), following))

    def _mark_seen(self) -> None:
        if self.rows.follow and self._lines:
            self._seen = int(self._lines[-1].key)
