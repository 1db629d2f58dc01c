"""Lines of text that scroll: header, drawing, preview, status, footer and every page that is only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from rich.style import Style
from textual import getters
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from evatui.console.theme import ThemedApp
from evatui.console.view.ink import EMPTY, Line
from evatui.console.widgets.extent import set_extent
from evatui.console.widgets.paint import paint

__all__ = ["Lines", "Source"]

Source = Callable[[int], Sequence[Line]]
"""What to show in a width of so many cells."""


class Lines(ScrollView, can_focus=False):
    """Asks its source again when the width changes, and repaints only the lines that differ.

    A column is kept free for the scroll bar where there may be one.
    """

    DEFAULT_CSS = """
    Lines { scrollbar-size-vertical: 1; overflow: hidden; height: auto; }
    """

    app = getters.app(ThemedApp)

    def __init__(self, source: Source | None = None, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._source: Source = source or (lambda width: ())
        self._lines: Sequence[Line] = ()
        self._asked_width = -1

    @property
    def lines(self) -> Sequence[Line]:
        """What is shown now."""
        return self._lines

    def show(self, source: Source) -> None:
        self._source = source
        self.ask_again()

    def ask_again(self) -> None:
        """What the source says now; nothing is painted where it says the same."""
        if self._asked_width >= 0:
            self._ask(self._asked_width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if width != self._asked_width:
            self._ask(width)
        return len(self._lines)

    def on_resize(self) -> None:
        width = self.container_size.width
        if width:  # also where it is as before: what is said may go by the size of the screen
            self._ask(width)

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        content = self._lines[index] if index < len(self._lines) else EMPTY
        return paint(content, self.size.width, self.app.palette, self._base())

    def _base(self) -> Style:
        return self.visual_style.rich_style

    def _ask(self, width: int) -> None:
        self._asked_width = width
        bar = self.styles.scrollbar_size_vertical if self.styles.overflow_y == "auto" else 0
        before, self._lines = self._lines, self._source(width - bar)
        if len(before) != len(self._lines):
            set_extent(self, Size(width, len(self._lines)))
        for index, (old, new) in enumerate(zip_longest(before, self._lines)):
            if old != new:
                self.refresh_line(index)
