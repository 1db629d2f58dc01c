"""The view Rejected: what is refused, and the card that says why."""

from __future__ import annotations

from textual.app import ComposeResult

from evatui.console.panes.pane import Opened, Pane
from evatui.console.view.actions import View
from evatui.console.view.card import card
from evatui.console.view.empty import EMPTY_REJECTED, NOT_FOUND
from evatui.console.view.ink import Line, plain
from evatui.console.view.rows import REJECTED_COLUMNS, rejected_rows
from evatui.console.widgets.lines import Lines
from evatui.control.snapshot import ConsoleSnapshot, RejectionRow

__all__ = ["RejectedPane"]


class RejectedPane(Pane):
    view = View.REJECTED
    columns = REJECTED_COLUMNS
    noun = "refused"

    def compose(self) -> ComposeResult:
        self._card = Lines(self._card_lines, classes="card")
        yield self.rows
        yield self._card

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self.snapshot = snapshot
        self.rows.set_rows(rejected_rows(snapshot, self.look), NOT_FOUND if snapshot.rejections else EMPTY_REJECTED)
        self.set_class(not snapshot.rejections, "-empty")
        self.cursor_moved()

    def cursor_moved(self) -> None:
        self._card.show(self._card_lines)

    def subject(self) -> RejectionRow | None:
        if self.snapshot is None:
            return None
        return next((row for row in self.snapshot.rejections if row.key == self.rows.key), None)

    def opened(self) -> Opened | None:
        row = self.subject()
        if row is None:
            return None
        return Opened(row.key, lambda width: card(row, width, self.look), self.copied())

    def copied(self) -> str:
        row = self.subject()
        return "\n".join(plain(part) for part in card(row, 200, self.look)) if row else ""

    def _card_lines(self, width: int) -> list[Line]:
        row = self.subject()
        return card(row, width, self.look) if row else []
