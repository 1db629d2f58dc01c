"""One of several values, in one line: the arrows and the space bar go through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual import events, getters
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from evatui.console.theme import ThemedApp
from evatui.console.view.ink import Ink, line
from evatui.console.widgets.paint import paint

__all__ = ["Choice"]

_STEPS = {"right": 1, "space": 1, "enter": 1, "left": -1}


class Choice(Widget, can_focus=True):
    """``options`` are what is shown and what it stands for."""

    DEFAULT_CSS = """
    Choice { height: 1; }
    """

    app = getters.app(ThemedApp)

    @dataclass
    class Changed(Message):
        choice: Choice

    def __init__(self, options: Sequence[tuple[str, Any]]) -> None:
        super().__init__()
        self._options = tuple(options)
        self._at = 0

    @property
    def value(self) -> Any:
        return self._options[self._at][1]

    def choose(self, value: Any) -> None:
        """The option that stands for it, the type of a number and of a truth included."""
        for index, (_, option) in enumerate(self._options):
            if option is value or (type(option) is type(value) and option == value):
                self._at = index
                self.refresh()
                return

    def on_key(self, event: events.Key) -> None:
        if (step := _STEPS.get(event.key)) is not None:
            event.stop()
            self._at = (self._at + step) % len(self._options)
            self.refresh()
            self.post_message(self.Changed(self))

    def on_click(self) -> None:
        self._at = (self._at + 1) % len(self._options)
        self.refresh()
        self.post_message(self.Changed(self))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        ink = Ink.LIT if self.has_focus else Ink.STRONG
        content = line(("‹ ", Ink.DIM), (self._options[self._at][0], ink), (" ›", Ink.DIM))
        if len(self._options) > 1:
            content += line((f"  {self._at + 1} of {len(self._options)}", Ink.DIM))
        return paint(content, self.size.width, self.app.palette, self.visual_style.rich_style)
