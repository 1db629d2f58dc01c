"""What every dialog has in common: keys typed before it was seen confirm nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widget import Widget

from evatui.console.theme import ThemedApp
from evatui.console.view.ink import Ink, Line, line, measure
from evatui.console.widgets.lines import Lines, Source

__all__ = ["ARM_AFTER_S", "Dialog", "choices"]

ARM_AFTER_S = 0.4
"""From the first paint of a dialog until it takes a key that confirms."""

T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """A titled box of lines over the console. ``confirm_keys`` call `confirm`, ``cancel_keys`` dismiss it."""

    CSS_PATH: ClassVar[CSSPathType | None] = "dialog.tcss"
    AUTO_FOCUS = ""
    app = getters.app(ThemedApp)

    rows_around = 9
    """Lines of the box that are not its body."""
    confirm_keys: tuple[str, ...] = ()
    cancel_keys: tuple[str, ...] = ("escape", "q")
    scrolls_by_keys = True
    """Whether its body is text, of which the keys bring the rest."""

    def __init__(self, title: str, source: Source, foot: Line) -> None:
        super().__init__()
        self._title = title
        self._source = source
        self._foot = foot
        self._armed_at: float | None = None
        self._finished = False

    def compose(self) -> ComposeResult:
        yield from self.app.banner()
        with Vertical(classes="box"):
            yield Lines(lambda width: (self._heading(width),), classes="title")
            yield from self.body()
            yield Lines(lambda width: (self._keys(),), classes="foot")

    def _heading(self, width: int) -> Line:
        """Where one is: the view, the dialogs that this one stands over, and its own title."""
        over = [screen._title for screen in self.app.screen_stack if isinstance(screen, Dialog) and screen is not self]
        crumbs = line((" ▸ ".join([self.app.whereabouts, *over, ""]), Ink.DIM))
        title = line((self._title, Ink.STRONG))
        return (*crumbs, *title) if measure(crumbs) + measure(title) <= width else title

    def _keys(self) -> Line:
        scrolls = self.scrolls_by_keys and self.query_one(".body").max_scroll_y > 0
        return (*self._foot, *choices(("j k", "scroll"))) if scrolls else self._foot

    def body(self) -> Sequence[Widget]:
        return (Lines(self._source, classes="body"),)

    def on_mount(self) -> None:
        self.call_after_refresh(self._painted)

    def on_resize(self, event: events.Resize) -> None:
        self.refit()

    def refit(self) -> None:
        """After its body became another one."""
        self.make_room(max(3, self.size.height - self.rows_around))

    def make_room(self, height: int) -> None:
        """Fits the body into ``height`` lines."""
        self.query_one(".body").styles.max_height = height
        self.call_after_refresh(self.query_one(".foot", Lines).ask_again)

    def _painted(self) -> None:
        self._armed_at = time.monotonic() + ARM_AFTER_S

    @property
    def armed(self) -> bool:
        """Whether a key typed now may confirm."""
        return self._armed_at is not None and time.monotonic() >= self._armed_at

    def takes(self, event: events.Key) -> bool:
        """Whether ``event`` was typed when the dialog was armed, not merely handled then."""
        return self._armed_at is not None and event.time >= self._armed_at

    def confirm(self) -> None:
        raise NotImplementedError

    def finish(self, result: T | None) -> None:
        """Dismisses it, once: a second key may be on its way already."""
        if not self._finished:
            self._finished = True
            self.dismiss(result)

    def on_key(self, event: events.Key) -> None:
        self.typed(event)

    def typed(self, event: events.Key) -> None:
        """A key; Textual calls the handlers of every base class, so this is what a subclass extends."""
        if event.key in self.confirm_keys:
            event.stop()
            if self.takes(event):
                self.confirm()
        elif event.key in self.cancel_keys:
            event.stop()
            self.finish(None)
        elif (step := _SCROLLS.get(event.key)) is not None:
            event.stop()
            self.step(step)

    def step(self, lines: int) -> None:
        """Scrolls the body."""
        body = self.query_one(".body", Lines)
        body.scroll_to(y=body.scroll_offset.y + lines, animate=False, force=True)


_SCROLLS = {
    "j": 1, "down": 1, "k": -1, "up": -1, "pagedown": 10, "space": 10, "pageup": -10,
    "home": -1_000_000, "g": -1_000_000, "end": 1_000_000, "G": 1_000_000,
}  # fmt: skip


def choices(*pairs: tuple[str, str], focused: int | None = None) -> Line:
    """Keys and what they do; the focused one is what enter takes."""
    spans: list[tuple[str, Ink]] = []
    for index, (key, label) in enumerate(pairs):
        if index == focused:
            spans += [(f" {label} ", Ink.LIT), ("  ", Ink.PLAIN)]
        else:
            spans += [(key, Ink.KEY), (f" {label}", Ink.DIM), ("   ", Ink.PLAIN)]
    return line(*spans)
