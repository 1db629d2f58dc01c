"""A name to type."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget
from textual.widgets import Input

from evatui.console.screens.dialog import Dialog, choices
from evatui.console.widgets.lines import Lines, Source

__all__ = ["Name"]


class Name(Dialog[str]):
    """Dismissed with what was typed, which is not empty."""

    AUTO_FOCUS = "Input"
    cancel_keys = ("escape",)
    scrolls_by_keys = False

    def __init__(self, title: str, source: Source, verb: str, *, dotted: bool = False) -> None:
        """``dotted``: dots may be in it as well."""
        self._allowed = r"[A-Za-z0-9_.-]*" if dotted else r"[A-Za-z0-9_-]*"
        super().__init__(title, source, choices(("enter", verb), ("esc", "cancel")))

    def body(self) -> Sequence[Widget]:
        field = Input(compact=True, max_length=64, restrict=self._allowed, placeholder="a name")
        field.cursor_blink = False
        return (Lines(self._source, classes="body"), field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.armed and event.value:
            self.finish(event.value)
