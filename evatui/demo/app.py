"""The console with a tour in it: keys may be the tour's or a person's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from textual import events

from evatui.console.settings import Settings
from evatui.console.view.header import Link
from evatui.console.view.ink import Ink
from evatui.console.view.words import Look
from evatui.control.operator import Operator
from evatui.control.snapshot import ConsoleSnapshot
from evatui.demo.band import Caption
from evatui.demo.banded import BandedConsole
from evatui.demo.load import Load
from evatui.demo.outside import Outside
from evatui.demo.scene import Scene
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


class DemoApp(BandedConsole):
    """``begin`` makes the runtime and what goes on around it; ``told`` hears of each step that is done.

    ``failed`` is why the tour stopped before its end, None where it did not.
    """

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
        self._tour: Tour | None = None
        self._begin = begin
        self._told = told
        self._pace = pace
        self._steps = steps
        self._playing: asyncio.Task[None] | None = None

    async def _open_play(self) -> Operator:
        operator, self.load, outside = await self._begin()
        self._tour = Tour(Scene(self, self.load, outside), pace=self._pace, told=self._told)
        return operator

    # --- playing ----------------------------------------------------------------------------------

    def show(self, snapshot: ConsoleSnapshot) -> None:
        super().show(snapshot)
        if self._playing is None and self._tour is not None:
            self._tour.scene.load.start()
            self.set_interval(_BOARD_S, self.refresh_band)
            self._playing = asyncio.create_task(self._play(self._tour))

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
        tour = self._tour
        if tour is None or tour.scene.pressed(event) or self.over.is_set():
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
        if self._playing is not None and self._tour is not None:
            self._playing.cancel()
            self._tour.scene.load.close()
