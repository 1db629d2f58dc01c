"""Something to read: a record, a description, an answer, the keys."""

from __future__ import annotations

from evatui.console.screens.dialog import Dialog, choices
from evatui.console.widgets.lines import Source

__all__ = ["Page"]


class Page(Dialog[None]):
    """``copied`` is what ``C`` puts on the clipboard; a ``broad`` one takes the whole width of the screen."""

    confirm_keys = ("C",)
    cancel_keys = ("escape", "q", "enter", "question_mark", "f1")

    def __init__(self, title: str, source: Source, copied: str, *, broad: bool = False) -> None:
        super().__init__(title, source, choices(("esc", "back"), ("C", "copy")))
        self._copied = copied
        self.set_class(broad, "-broad")

    def confirm(self) -> None:
        self.app.copy(self._copied, f"{len(self._copied):,} characters")
        self.finish(None)
