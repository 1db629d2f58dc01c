"""A list to choose one of: generations to roll back to, or what can be done to a thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events
from textual.widget import Widget

from evatui.console.screens.dialog import Dialog, choices
from evatui.console.view.table import Column, Row
from evatui.console.widgets.row_list import RowList

__all__ = ["Choose"]


class Choose(Dialog[str]):
    """Dismissed with the key of a row: by enter, or by one of ``shortcuts`` (key typed -> row)."""

    AUTO_FOCUS = "RowList"
    confirm_keys = ("enter",)

    def __init__(
        self, title: str, columns: Sequence[Column], rows: Sequence[Row], *, shortcuts: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(title, lambda width: (), choices(("enter", "choose"), ("esc", "back")))
        self._columns = columns
        self._rows = rows
        self._shortcuts = dict(shortcuts or {})

    def body(self) -> Sequence[Widget]:
        self._list = RowList(self._columns, id="choices")
        self._list.set_rows(self._rows)
        self._list.add_class("body")
        self._list.styles.height = len(self._rows) + 1
        return (self._list,)

    def confirm(self) -> None:
        self.finish(self._list.key)

    def step(self, lines: int) -> None:
        self._list.move(lines)

    def typed(self, event: events.Key) -> None:
        if event.key in self._shortcuts:
            event.stop()
            if self.takes(event):
                self.finish(self._shortcuts[event.key])
        else:
            super().typed(event)

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        if self.armed:
            self.finish(message.key)
