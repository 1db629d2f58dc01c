"""``python -m evatui.demo.pictures DIR``: the pictures of the tour, the same bytes each time."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from textual.pilot import Pilot

from evatui.console.launch import pose, say
from evatui.console.rest import at_rest
from evatui.console.view.words import Look
from evatui.control.snapshot import ConsoleSnapshot
from evatui.demo.app import DemoApp, Play
from evatui.demo.ground import Ground
from evatui.demo.load import Load
from evatui.demo.outside import Outside
from evatui.demo.png import to_png
from evatui.demo.scene import LIMIT_S
from evatui.demo.step import Step
from evatui.demo.still import StepClock, StillOperator
from evatui.demo.tour import StepFailed
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.lifecycle import State

__all__ = ["draw"]

_LOOK_S = 0.02
_PASSING = (State.PENDING, State.DRAINING)


class _Studio:
    """Takes the pictures of a tour that goes step by step, load and clock included."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._clock = StepClock()
        self.ground = Ground(self._clock, Actor(CallerType.USER, "ann"))
        self.app = DemoApp(self._begin, self._take, workspace=self.ground.root, pace=0, look=Look(picture=True))

    async def _begin(self) -> Play:
        await asyncio.to_thread(self.ground.hold_back)
        operator = await self.ground.open()
        await self.ground.bring_in(operator)
        await operator.run("hardware.rescan")  # devices are looked for in the background: before time goes on
        load = Load(operator, steps=True)
        return StillOperator(operator), load, Outside(self.ground, operator, load.tally, timed=False)

    async def _take(self, step: Step) -> None:
        try:
            async with asyncio.timeout(LIMIT_S):
                await self._settle()  # always: what happened in a step is seen at its time
        except TimeoutError:
            raise StepFailed(step.name, "all that happened comes to the screen") from None
        if step.picture:
            picture = self.app.export_screenshot(title="evatui", simplify=True)
            await asyncio.to_thread(self._write, self._folder / f"{step.picture}.svg", picture)
        self._clock.step()

    async def _settle(self) -> None:
        """Until the screen shows all that has happened, and nothing goes on by itself any more."""
        await self._look()
        await self._look()  # whatever happened while the first one was taken
        while any(self._shown.counts.get(state) for state in _PASSING):
            await self._look()
        await at_rest(self.app)
        self.app.pane.show(self._shown, 0.0)
        self.app.refresh_band()
        await asyncio.sleep(_LOOK_S)

    @property
    def _shown(self) -> ConsoleSnapshot:
        assert self.app.snapshot is not None  # the tour begins with the first one
        return self.app.snapshot

    async def _look(self) -> None:
        assert self.app.feed is not None
        before = self._shown
        self.app.feed.pull_now()
        while self._shown is before:  # noqa: ASYNC110 -- the feed tells nobody but the console
            await asyncio.sleep(_LOOK_S)

    def _write(self, file: Path, picture: str) -> None:
        file.write_text(picture, encoding="utf-8")
        to_png(file)

    async def watch(self, pilot: Pilot[object]) -> None:
        await self.app.first_snapshot.wait()
        if self.app.snapshot is not None:
            await self.app.over.wait()
            self.app.exit()


def draw(folder: Path, size: tuple[int, int] = (120, 36)) -> int:
    """A picture of each step that has one, as SVG and, where a program for it is there, as PNG.

    Returns the exit code; what is wrong is said on standard error. What the shell prefers plays no part.
    """
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM"):
        os.environ.pop(name, None)
    folder.mkdir(parents=True, exist_ok=True)
    studio = _Studio(folder)
    try:
        code = pose(studio.app, size, studio.watch)
    finally:
        studio.ground.close()
    if studio.app.failed is not None:
        say(f"error: {studio.app.failed}")
        return 1
    return code


if __name__ == "__main__":
    sys.exit(draw(Path(sys.argv[1])))
