"""The line after ``:``, with completion by tab and what was typed before by the arrows."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

from evatui.console.widgets.prompt import HARMLESS

__all__ = ["CommandLine"]

_REMEMBERED = 100


class CommandLine(Input):
    BINDINGS = [  # noqa: RUF012 -- Textual's own shape
        Binding("escape", "leave", "back", show=False),
        Binding("tab", "complete(1)", "complete", show=False),
        Binding("shift+tab", "complete(-1)", "complete", show=False),
        Binding("up", "recall(-1)", "before", show=False),
        Binding("down", "recall(1)", "after", show=False),
    ]

    @dataclass
    class Asked(Message):
        """Tab was pressed: ``step`` candidates on."""

        step: int

    @dataclass
    class Left(Message):
        """It is done, and nothing is to be run."""

    def __init__(self, *, id: str) -> None:
        super().__init__(
            id=id, compact=True, select_on_focus=False, restrict=HARMLESS, placeholder="a command; tab completes"
        )
        self.cursor_blink = False
        self._history: list[str] = []
        self._at = 0

    @property
    def is_open(self) -> bool:
        return self.has_class("-shown")

    def open(self) -> None:
        self.value = ""
        self._at = len(self._history)
        self.add_class("-shown")
        self.screen.set_focus(self)  # at once: the next key may be on its way already

    def close(self) -> None:
        self.remove_class("-shown")

    def remember(self, text: str) -> None:
        """For the arrows; the same again moves to the end."""
        self._history = [*(old for old in self._history if old != text), text][-_REMEMBERED:]

    def put(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)

    def action_complete(self, step: int) -> None:
        self.post_message(self.Asked(step))

    def action_recall(self, step: int) -> None:
        self._at = max(0, min(self._at + step, len(self._history)))
        self.put(self._history[self._at] if self._at < len(self._history) else "")

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def on_blur(self) -> None:
        """By a click elsewhere; not when the terminal's window loses the keys."""
        if self.is_open and self.app.app_focus:
            self.post_message(self.Left())
