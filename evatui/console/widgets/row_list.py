"""The one list of the console: rows, cursor and marks are known by key, never by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events, getters
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from evatui.console.theme import ThemedApp
from evatui.console.view.finding import differ, next_match, place_of
from evatui.console.view.ink import EMPTY, Ink, Line, prose
from evatui.console.view.table import Column, Level, Query, Row, head
from evatui.console.view.widths import Longest, shown_columns
from evatui.console.widgets.extent import set_extent
from evatui.console.widgets.paint import paint
from evatui.console.widgets.row_strips import RowLook, RowStrips

__all__ = ["RowList"]

_GUTTER = 2
_SCROLLBAR = 1
"""Kept free, so that nothing moves when the bar comes and goes."""


class RowList(ScrollView, can_focus=True):
    """Shows rows of fixed columns under one line of titles.

    `set_rows` compares by key: cursor and marks stay with their rows through inserts, removals, sorting
    and filtering, and only lines that look different are painted again.
    """

    DEFAULT_CSS = """
    RowList { scrollbar-size-vertical: 1; overflow-x: hidden; height: 1fr; }
    """

    app = getters.app(ThemedApp)

    @dataclass
    class Moved(Message):
        """The cursor stands on another row, or on none."""

        row_list: RowList
        key: str | None

    @dataclass
    class Opened(Message):
        """A click on the row under the cursor."""

        row_list: RowList
        key: str

    def __init__(self, columns: Sequence[Column], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns = tuple(columns)
        self.empty: Sequence[Line] = ()
        """What stands in the place of rows where there are none, wrapped to the width."""
        self.query_text = Query.parse("")
        self.lead: Row | None = None
        """Before all others, whatever the filter and the order: what enter does there is the pane's."""
        self.level = Level.DETAIL
        """Rows of less weight are not shown."""
        self.marks: frozenset[str] = frozenset()
        self.sorted_by: int | None = None
        self.reverse = False
        self.follow = False
        self._rows: Sequence[Row] = ()
        self._visible: Sequence[Row] = ()
        self._cursor = 0
        self._key: str | None = None
        self._shape: tuple[tuple[int, int], ...] = ()
        self._longest = Longest()
        self._strips = RowStrips()
        self._instead: Sequence[Line] = ()
        self._pattern = self.query_text

    @property
    def key(self) -> str | None:
        """The key of the row under the cursor."""
        return self._key

    @property
    def shown(self) -> Sequence[Row]:
        """The rows that pass the filter, in the order of the screen."""
        return self._visible

    @property
    def total(self) -> int:
        return len(self._rows)

    # --- what to show -----------------------------------------------------------------------------

    def set_rows(self, rows: Sequence[Row], empty: Sequence[Line] = ()) -> None:
        self._rows = rows
        if empty != self.empty:
            self.empty, self._instead = empty, ()
        self._arrange()
        self._share(self._longest.of(rows, self.columns))

    def filter(self, text: str) -> None:
        """Narrows the list, to its first row where it hides the cursor's; `step_match` remembers the last filter."""
        self.query_text = Query.parse(text)
        if self.query_text:
            self._pattern = self.query_text
        self._arrange(narrowed=True)

    def show_from(self, level: Level) -> None:
        """Only rows of that level and above."""
        self.level = level
        self._arrange()

    def mark(self, keys: frozenset[str]) -> None:
        """Exactly these rows are marked from now on, shown or not."""
        changed, self.marks = self.marks ^ keys, keys
        for index in range(self.scroll_offset.y, min(self.scroll_offset.y + self.size.height, len(self._visible))):
            if self._visible[index].key in changed:
                self.refresh_line(index + 1)

    def mark_here(self) -> None:
        """Marks the row under the cursor, or unmarks it, and goes on to the next one."""
        if self._key is not None and self._key != (self.lead.key if self.lead else None):
            self.mark(self.marks ^ {self._key})
            self.move(1)

    def mark_shown(self) -> None:
        """Marks every row that passes the filter."""
        self.mark(self.marks | {row.key for row in self._visible if row is not self.lead})

    def sort(self, column: int | None, *, reverse: bool = False) -> None:
        """Sorts by a column, or by the order in which rows were given."""
        self.sorted_by, self.reverse = column, reverse
        if column is not None:
            self.follow = False
        self._arrange()
        self.refresh_line(self.scroll_offset.y)

    def sort_next(self) -> None:
        """The next column from the left, and after the last the given order."""
        shown = [index for index, _ in self._shape]
        after = [index for index in shown if self.sorted_by is None or index > self.sorted_by]
        self.sort(after[0] if after else None)

    def set_follow(self, follow: bool) -> None:
        self.follow = follow
        if follow:
            self.sorted_by = None
            self._arrange()

    # --- the cursor -------------------------------------------------------------------------------

    def move_to(self, key: str) -> bool:
        """Puts the cursor on the row with ``key``; false where it is not shown."""
        place = place_of(self._visible, key)
        if place is not None:
            self._put(place)
        return place is not None

    def move(self, step: int) -> None:
        if step < 0:
            self.follow = False
        self._put(self._cursor + step)

    def move_to_end(self, *, last: bool) -> None:
        self.follow = self.follow and last
        self._put(len(self._visible) - 1 if last else 0)

    def page(self, direction: int) -> None:
        self.move(direction * max(1, self.size.height - 2))

    def step_match(self, step: int) -> bool:
        """To the next row that the last filter matches, round the end; false where there is none."""
        place = next_match(self._visible, self._pattern, self._cursor, step)
        if place is not None:
            self.follow = False
            self._put(place)
        return place is not None

    # --- inside -----------------------------------------------------------------------------------

    def _arrange(self, *, narrowed: bool = False) -> None:
        rows = self.query_text.select(self._rows) if self.query_text else self._rows
        if self.level > Level.DETAIL:
            rows = [row for row in rows if row.level >= self.level]
        if self.sorted_by is not None:
            column = self.sorted_by
            rows = sorted(rows, key=lambda row: row.order[column], reverse=self.reverse)
        if self.lead is not None:
            rows = [self.lead, *rows]
        before, self._visible = self._visible, rows
        cursor_before, offset = self._cursor, self.scroll_offset.y
        on_screen = self._cursor - offset
        self._cursor = self._find_cursor(narrowed)
        set_extent(self, Size(self.size.width, max(len(rows), 1) + 1))
        if self.follow:
            self._reveal()
        elif rows is not before and self._cursor != cursor_before:
            # Rows came or went above: keep the cursor's line where the eye has it.
            self.scroll_to(y=max(0, self._cursor - on_screen), animate=False, force=True)
        self._repaint(before, cursor_before, offset)
        self._tell()

    def _find_cursor(self, narrowed: bool) -> int:
        last = len(self._visible) - 1
        if self.follow:
            return max(0, last)
        place = place_of(self._visible, self._key, self._cursor)
        if place is not None:
            return place
        first = 0 if self.lead is None else 1
        return max(0, min(first if narrowed else self._cursor, last))

    def _repaint(self, before: Sequence[Row], cursor_before: int, offset_before: int) -> None:
        offset = self.scroll_offset.y
        if offset != offset_before or not before or not self._visible:
            self.refresh()
            return
        moved = {self._cursor, cursor_before} if self._cursor != cursor_before else set()
        for index in range(offset, min(offset + self.size.height, max(len(before), len(self._visible)))):
            if index in moved or differ(before, self._visible, index):
                self.refresh_line(index + 1)

    def _put(self, index: int) -> None:
        if not self._visible:
            return
        old, self._cursor = self._cursor, max(0, min(index, len(self._visible) - 1))
        for changed in {old, self._cursor}:
            self.refresh_line(changed + 1)
        self._reveal()
        self._tell()

    def _tell(self) -> None:
        key = self._visible[self._cursor].key if self._visible else None
        if key != self._key:
            self._key = key
            self.post_message(self.Moved(self, key))

    def _reveal(self) -> None:
        # Forced, since Textual does not scroll before it has shown the scroll bar of a list that just grew.
        page = max(1, self.size.height - 1)
        offset = self.scroll_offset.y
        if self._cursor < offset:
            self.scroll_to(y=self._cursor, animate=False, force=True)
        elif self._cursor >= offset + page:
            self.scroll_to(y=self._cursor - page + 1, animate=False, force=True)

    def _share(self, longest: tuple[int, ...]) -> None:
        """The columns anew; all is painted again where one has another width than before, once it has a place."""
        room = self.size.width - _GUTTER - _SCROLLBAR
        shape = shown_columns(self.columns, room, longest) if self.size else self._shape
        if shape != self._shape:
            self._shape = shape
            self._strips.clear()
            self.refresh()

    def on_resize(self) -> None:
        self._share(self._longest.cells)
        set_extent(self, Size(self.size.width, max(len(self._visible), 1) + 1))
        self._instead = ()
        self._reveal()
        self.refresh()

    def on_focus(self) -> None:
        self.refresh_line(self._cursor + 1)

    on_blur = on_focus

    def on_mouse_scroll_up(self) -> None:
        self.follow = False

    def on_click(self, event: events.Click) -> None:
        index = event.y - 1 + self.scroll_offset.y
        if event.y == 0 or index >= len(self._visible):
            return
        if index == self._cursor:
            self.post_message(self.Opened(self, self._visible[index].key))
        else:
            self.follow = False
            self._put(index)

    # --- painting ---------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        base = self.visual_style.rich_style
        width = self.size.width
        if y == 0:
            titles = head(self.columns, self._shape, self.sorted_by, self.reverse)
            return paint((("  ", Ink.DIM), *titles), width, self.app.palette, base)
        index = y - 1 + self.scroll_offset.y
        if index < len(self._visible):
            row, here = self._visible[index], index == self._cursor
            look = RowLook(here, self.has_focus, row.key in self.marks, width, base, self.app.palette)
            return self._strips.strip(row, look, self.columns, self._shape)
        self._instead = self._instead or prose(self.empty, width - _GUTTER - _SCROLLBAR)
        shown = not self._visible and index < len(self._instead)
        return paint((("  ", Ink.PLAIN), *self._instead[index]) if shown else EMPTY, width, self.app.palette, base)
