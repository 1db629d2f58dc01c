"""The filter's line."""

from __future__ import annotations

from textual.binding import Binding
from textual.widgets import Input

__all__ = ["HARMLESS", "Prompt"]

HARMLESS = r"[^\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"
"""Neither control characters nor what is invisible or turns the writing direction."""


class Prompt(Input):
    """Takes printable characters only, pasted ones too: a control sequence in it would reach the screen."""

    BINDINGS = [Binding("escape", "give_up", "clear", show=False)]  # noqa: RUF012 -- Textual's own shape

    def __init__(self, *, id: str) -> None:
        super().__init__(
            id=id,
            compact=True,
            select_on_focus=False,
            restrict=HARMLESS,
            placeholder="filter: words, cap:x, err:, gen:g41, >1s, !not",
        )
        self.cursor_blink = False

    def action_give_up(self) -> None:
        """Clears it, and is done."""
        self.value = ""
        self.post_message(self.Submitted(self, ""))

    def on_blur(self) -> None:
        """Done as well when the keys go elsewhere, by tab or a click; not when the terminal's window loses them."""
        if self.is_open and self.app.app_focus:
            self.post_message(self.Submitted(self, self.value))

    @property
    def is_open(self) -> bool:
        return self.has_class("-shown")
