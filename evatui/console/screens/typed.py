"""Before something that a slip of the finger must not do: what will happen, and the name to type."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget
from textual.widgets import Input

from evatui.console.screens.dialog import Dialog, choices
from evatui.console.widgets.lines import Lines, Source

__all__ = ["Typed"]


class Typed(Dialog[str]):
    """Dismissed with ``name`` only where it was typed in full, and enter pressed."""

    AUTO_FOCUS = "Input"
    cancel_keys = ("escape",)
    scrolls_by_keys = False

    def __init__(self, title: str, source: Source, verb: str, name: str) -> None:
        super().__init__(title, source, choices((f"type {name} and enter", verb), ("esc", "cancel")))
        self._wanted = name

    def body(self) -> Sequence[Widget]:
        field = Input(compact=True, max_length=128, restrict=r"[A-Za-z0-9_.-]*", placeholder=self._wanted)
        field.cursor_blink = False
        return (Lines(self._source, classes="body"), field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.armed and event.value == self._wanted:
            self.finish(self._wanted)
