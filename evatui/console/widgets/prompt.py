"""The filter's line."""

from __future__ import annotations

from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

__all__ = ["Prompt"]


class Prompt(Input):
    """Takes printable characters only, pasted ones too: a control sequence in it would reach the screen."""

    BINDINGS = [Binding("escape", "give_up", "clear", show=False)]  # noqa: RUF012 -- Textual's own shape

    class GivenUp(Message):
        """Escape was pressed: no filter."""

    def __init__(self, *, id: str) -> None:
        super().__init__(
            id=id,
            compact=True,
            select_on_focus=False,
            restrict=r"[ -~¡-\uffff]*",
            placeholder="filter: words, cap:x, err:, gen:g41, >1s, !not",
        )
        self.cursor_blink = False

    def action_give_up(self) -> None:
        self.value = ""
        self.post_message(self.GivenUp())
