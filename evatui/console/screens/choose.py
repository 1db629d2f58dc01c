"""A list to choose one of: generations to roll back to, or what can be done to a thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual import events
from textual.widget import Widget

from evatui.console.screens.dialog import Dialog, choices
from evatui.console.view.ink import Line, wrap
from evatui.console.view.table import Column, Row
from evatui.console.widgets.lines import Lines
from evatui.console.widgets.row_list import RowList

__all__ = ["TOLD", "Choose", "told_lines"]

TOLD = 2
"""Lines beneath a list for what there is to say of a row."""


def told_lines(rows: RowList, told: Callable[[str], Line]) -> Lines:
    """As many lines whatever stands in them, so that nothing moves with the cursor."""

    def source(width: int) -> list[Line]:
        said = list(wrap(told(rows.key), width)) if rows.key is not None else []
        return [*said, *[()] * TOLD][:TOLD]

    return Lines(source, classes="beneath")


class Choose(Dialog[str]):
    """Dismissed with the key of a row: by enter, or by one of ``shortcuts`` (key typed -> row).

    ``told`` is what there is to say of the row under the cursor, by its key: beneath the list, in two lines.
    """

    AUTO_FOCUS = "RowList"
    confirm_keys = ("enter",)
    scrolls_by_keys = False

    def __init__(
        self,
        title: str,
        columns: Sequence[Column],
        rows: Sequence[Row],
        *,
        shortcuts: Mapping[str, str] | None = None,
        told: Callable[[str], Line] | None = None,
    ) -> None:
        super().__init__(title, lambda width: (), choices(("enter", "choose"), ("esc", "back")))
        self._columns = columns
        self._rows = rows
        self._shortcuts = dict(shortcuts or {})
        self._told = told
        if told is not None:
            self.rows_around += TOLD + 1

    def body(self) -> Sequence[Widget]:
        self._list = RowList(self._columns, id="choices")
        self._list.set_rows(self._rows)
        self._list.add_class("body")
        self._list.styles.height = len(self._rows) + 1
        if self._told is None:
            return (self._list,)
        self._beneath = told_lines(self._list, self._told)
        return (self._list, self._beneath)

    def on_row_list_moved(self) -> None:
        if self._told is not None:
            self._beneath.ask_again()

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
