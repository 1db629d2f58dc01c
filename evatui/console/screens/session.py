"""The log of the session: who did what, what came of it, and how it is undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.widget import Widget

from evatui.console.screens.dialog import Dialog, choices
from evatui.console.view.ink import EMPTY, line
from evatui.console.view.session import SESSION_COLUMNS, Session, session_rows, told_lines
from evatui.console.widgets.lines import Lines
from evatui.console.widgets.row_list import RowList

__all__ = ["Picked", "SessionLog"]

_KEYS = {"z": "undo", "w": "why", "enter": "why", "C": "copy"}


@dataclass(frozen=True, slots=True)
class Picked:
    """``what`` is ``undo``, ``why`` or ``copy``, of the entry with that request."""

    what: str
    request_id: str


class SessionLog(Dialog[Picked]):
    """Follows the session while it is open."""

    AUTO_FOCUS = "RowList"
    confirm_keys = tuple(_KEYS)
    cancel_keys = ("escape", "q", "at")
    rows_around = 13
    scrolls_by_keys = False

    def __init__(self, title: str, session: Session) -> None:
        super().__init__(
            title, lambda width: (), choices(("z", "undo"), ("w", "why"), ("C", "copy the command"), ("esc", "back"))
        )
        self._session = session

    def body(self) -> Sequence[Widget]:
        self._list = RowList(SESSION_COLUMNS, id="done")
        self._list.add_class("body")
        self._told = Lines(
            lambda width: list(told_lines(self._session.find(self._list.key or ""), width)), classes="told"
        )
        self.refresh_rows()
        self._list.move_to_end(last=True)
        return (self._list, self._told)

    def refresh_rows(self) -> None:
        """After something was done, here or elsewhere."""
        rows = session_rows(self._session, self.app.look)
        self._list.set_rows(
            rows, (EMPTY, line("Nothing was ordered yet; calls and orders stand here, also those of others."))
        )
        self._list.styles.height = max(4, len(rows) + 1)
        self._told.ask_again()

    def on_row_list_moved(self) -> None:
        self._told.ask_again()

    def step(self, lines: int) -> None:
        self._list.move(lines)

    def typed(self, event: events.Key) -> None:
        if event.key in _KEYS:
            event.stop()
            if self.takes(event):
                self._pick(_KEYS[event.key])
        else:
            super().typed(event)

    def on_row_list_opened(self) -> None:
        if self.armed:
            self._pick("why")

    def _pick(self, what: str) -> None:
        if self._list.key is not None:
            self.finish(Picked(what, self._list.key))
