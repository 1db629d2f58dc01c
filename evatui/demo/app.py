"""The console with a tour in it: a band above everything, and keys that may be the tour's or a person's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from textual import events
from textual.widget import Widget

from evatui.console import app as console
from evatui.console.app import ConsoleApp
from evatui.console.settings import Settings
from evatui.console.view.header import Link
from evatui.console.view.ink import Ink, Line, plain
from evatui.console.view.words import Look
from evatui.console.widgets.lines import Lines
from evatui.console.widgets.row_list import RowList
from evatui.control.operator import Operator
from evatui.control.snapshot import ConsoleSnapshot
from evatui.demo.band import Caption, board_line, caption_line
from evatui.demo.load import Load
from evatui.demo.outside import Outside
from evatui.demo.step import Step
from evatui.demo.steps import STEPS
from evatui.demo.tour import StepFailed, Tour

__all__ = ["DemoApp", "Play"]

_BOARD_S = 0.5
_LEAVES = frozenset({"q", "ctrl+q", "ctrl+c"})
_GOES_ON = "ctrl+g"
_YOURS = Caption(text="The console is yours. ctrl+g goes on with the tour", place="pause")
_OVER = Caption(text="That was the tour, and the load goes on", hint="yours: any key")

Play = tuple[Operator, Load, Outside]


class Band(Lines):
    """Two lines that are on every screen."""

    DEFAULT_CSS = """
    Band { dock: top; height: 2; padding: 0 1 0 0; background: $panel; }
    """


class DemoApp(ConsoleApp):
    """``begin`` makes the runtime and what goes on around it; ``told`` hears of each step that is done.

    ``failed`` is why the tour stopped before its end, None where it did not.
    """

    CSS_PATH = str(Path(console.__file__).with_name("app.tcss"))

    def __init__(
        self,
        begin: Callable[[], Awaitable[Play]],
        told: Callable[[Step], Awaitable[None]],
        *,
        workspace: Path,
        pace: float,
        look: Look,
        theme: str | None = None,
        steps: Sequence[Step] = STEPS,
    ) -> None:
        super().__init__(self._open_play, look=look, settings=Settings(theme=theme), workspace=workspace)
        self.frame.link = Link(simulated=True)
        self.failed: StepFailed | None = None
        self.over = asyncio.Event()
        self.tour: Tour | None = None
        self._begin = begin
        self._told = told
        self._pace = pace
        self._steps = steps
        self._said = Caption(text="Starting a runtime in a temporary workspace")
        self._playing: asyncio.Task[None] | None = None

    async def _open_play(self) -> Operator:
        operator, load, outside = await self._begin()
        self.tour = Tour(self, load, outside, pace=self._pace, told=self._told)
        return operator

    # --- the band ---------------------------------------------------------------------------------

    def banner(self) -> Iterable[Widget]:
        yield Band(self._band)

    def _band(self, width: int) -> tuple[Line, ...]:
        load = self.tour.load if self.tour is not None else None
        if load is None:
            return (caption_line(self._said, width, self.look), ())
        rate = None if load.steps else load.tally.rate(time.monotonic())
        board = board_line(load.tally, rate, self.numbers.known, width, self.look)
        return (caption_line(self._said, width, self.look), board)

    def caption(self, caption: Caption) -> None:
        self._said = caption
        self.refresh_band()

    def refresh_band(self) -> None:
        for screen in self.screen_stack:
            for band in screen.query(Band):
                band.ask_again()

    def shows(self, *words: str) -> bool:
        """Whether lines and lists of the screen in front have all of these."""
        told = [plain(part) for lines in self.screen.query(Lines) for part in lines.lines]
        rows = (row for rows in self.screen.query(RowList) if rows.region for row in rows.shown)
        told += [" ".join(plain(cell) for cell in row.cells) for row in rows]
        return all(any(word in text for text in told) for word in words)

    # --- playing ----------------------------------------------------------------------------------

    def show(self, snapshot: ConsoleSnapshot) -> None:
        super().show(snapshot)
        if self._playing is None and self.tour is not None:
            self.tour.load.start()
            self.set_interval(_BOARD_S, self.refresh_band)
            self._playing = asyncio.create_task(self._play(self.tour))

    async def _play(self, tour: Tour) -> None:
        try:
            await tour.play(self._steps)
            self.caption(_OVER)
        except StepFailed as failed:
            self.failed = failed
            self.caption(Caption(text=str(failed), place="✗", ink=Ink.BAD))
        self.over.set()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded and self._is_for_the_tour(event):
            return
        await super().on_event(event)

    def _is_for_the_tour(self, event: events.Key) -> bool:
        """A person's first key only stops it: whoever presses it does not know what it would do by then."""
        tour = self.tour
        if tour is None or tour.presses(event) or self.over.is_set():
            return False
        if tour.paused:
            if event.key == _GOES_ON:
                tour.resume()
            return event.key == _GOES_ON
        tour.pause()
        self.caption(_YOURS)
        return event.key not in _LEAVES

    def on_unmount(self) -> None:
        super().on_unmount()
        if self._playing is not None and self.tour is not None:
            self._playing.cancel()
            self.tour.load.close()
