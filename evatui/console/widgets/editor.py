"""A text of several lines."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import TextArea

from evatui.console.view.ink import safe

__all__ = ["PlainEditor"]


class PlainEditor(TextArea):
    """Draws control characters as pictures: pasted text must not reach the terminal as it is."""

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(text, soft_wrap=False, show_line_numbers=False, compact=True, placeholder=placeholder, id=id)
        self.cursor_blink = False

    def get_line(self, line_index: int) -> Text:
        return Text(safe(self.document.get_line(line_index)), end="", no_wrap=True)
