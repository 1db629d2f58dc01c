"""A list to search by typing: every action with its key, and in the palette the things to go to as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.widget import Widget
from textual.widgets import Input

from evatui.console.screens.choose import told_lines
from evatui.console.screens.dialog import Dialog, choices
from evatui.console.view.ink import EMPTY, Line, line
from evatui.console.view.table import Column, Row
from evatui.console.widgets.prompt import HARMLESS
from evatui.console.widgets.row_list import RowList

__all__ = ["Finder"]


class Finder(Dialog[str]):
    """Dismissed with the key of the row under the cursor, by enter. Letters search; the arrows move.

    ``told`` is what there is to say of that row, by its key: beneath the list, in two lines.
    """

    AUTO_FOCUS = "Input"
    cancel_keys = ("escape", "f1")
    rows_around = 14
    scrolls_by_keys = False

    def __init__(self, title: str, columns: Sequence[Column], rows: Sequence[Row], told: Callable[[str], Line]) -> None:
        foot = choices(("type", "to search"), ("↑ ↓", "move"), ("enter", "run"), ("esc", "back"))
        super().__init__(title, lambda width: (), foot)
        self._columns = columns
        self._rows = rows
        self._told = told

    def body(self) -> Sequence[Widget]:
        search = Input(compact=True, max_length=100, restrict=HARMLESS, placeholder="search", id="search")
        search.cursor_blink = False
        self._list = RowList(self._columns, id="found")
        self._list.can_focus = False
        self._list.set_rows(self._rows, (EMPTY, line("nothing is called that")))
        self._list.add_class("body")
        self._list.styles.height = len(self._rows) + 1
        self._beneath = told_lines(self._list, self._told)
        return (search, self._list, self._beneath)

    def on_row_list_moved(self) -> None:
        self._beneath.ask_again()

    def step(self, lines: int) -> None:
        self._list.move(lines)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._list.filter(event.value)
        self._list.move_to_end(last=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.armed:
            self.finish(self._list.key)

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        if self.armed:
            self.finish(message.key)

    def typed(self, event: events.Key) -> None:
        if event.key == "tab":
            event.stop()
            self.step(1)
        else:
            super().typed(event)
