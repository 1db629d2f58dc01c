"""The view Rejected: what is refused, waits for a person or defines nothing, and the card that says why."""

from __future__ import annotations

from evatui.console.panes.pane import Opened, Pane
from evatui.console.view.actions import View
from evatui.console.view.card import card
from evatui.console.view.empty import EMPTY_REJECTED, NOT_FOUND
from evatui.console.view.ink import Line, plain
from evatui.console.view.unserved import REJECTED_COLUMNS, rejected_rows
from evatui.console.view.waiting import held_card, idle_card
from evatui.control.deciding import HeldRow, IdleRow
from evatui.control.snapshot import ConsoleSnapshot, RejectionRow

__all__ = ["RejectedPane"]

_Unserved = RejectionRow | HeldRow | IdleRow


class RejectedPane(Pane):
    view = View.REJECTED
    columns = REJECTED_COLUMNS
    nouns = ("entry", "entries")

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self.snapshot = snapshot
        rows = rejected_rows(snapshot, self.look)
        self.fill(rows, NOT_FOUND if rows else EMPTY_REJECTED)
        self.cursor_moved()

    def subject(self) -> _Unserved | None:
        if self.snapshot is None:
            return None
        rows: tuple[_Unserved, ...] = (*self.snapshot.rejections, *self.snapshot.held, *self.snapshot.idle)
        return next((row for row in rows if row.key == self.rows.key), None)

    def opened(self) -> Opened | None:
        row = self.subject()
        if row is None:
            return None
        return Opened(row.key, lambda width: self._card_of(row, width), self.copied())

    def copied(self) -> str:
        row = self.subject()
        return "\n".join(plain(part) for part in self._card_of(row, 200)) if row else ""

    def preview_lines(self, width: int) -> list[Line]:
        row = self.subject()
        return self._card_of(row, width) if row else []

    def _card_of(self, row: _Unserved, width: int) -> list[Line]:
        if isinstance(row, HeldRow):
            return held_card(row, width, self.look)
        return idle_card(row, width) if isinstance(row, IdleRow) else card(row, width, self.look)
