"""Playing the tour: step by step, each one waiting for its conditions, and at any time a person's instead."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from evatui.console.view.ink import Ink
from evatui.demo.band import Caption
from evatui.demo.scene import LIMIT_S, NotSo, Scene
from evatui.demo.step import Step

__all__ = ["HINT", "StepFailed", "Tour"]

HINT = "any key: yours"
_CHARACTERS_S = 16
"""Characters of a caption that are read in a second."""


class StepFailed(Exception):
    """``step`` is its name, ``what`` the condition that did not come."""

    def __init__(self, step: str, what: str) -> None:
        super().__init__(f"step {step}: it is not so that {what}")
        self.step = step
        self.what = what


class Tour:
    """``told`` hears of each step as its caption is said. ``pace`` multiplies the time to read, and nothing else."""

    def __init__(self, scene: Scene, *, pace: float, told: Callable[[Step], Awaitable[None]]) -> None:
        self.scene = scene
        self._pace = pace
        self._told = told
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._stops = asyncio.Event()

    # --- a person ---------------------------------------------------------------------------------

    @property
    def paused(self) -> bool:
        return not self._goes_on.is_set()

    def pause(self) -> None:
        self._goes_on.clear()
        self._stops.set()

    def resume(self) -> None:
        """A step that was interrupted is done again from its beginning."""
        self._stops.clear()
        self._goes_on.set()

    # --- playing ----------------------------------------------------------------------------------

    async def play(self, steps: Sequence[Step]) -> None:
        """Raises `StepFailed`."""
        for number, step in enumerate(steps, 1):
            try:
                await self._play(step, f"{number}/{len(steps)}")
            except StepFailed:
                raise
            except Exception as error:  # else the tour would stand still without a word
                raise StepFailed(step.name, f"nothing breaks ({type(error).__name__})") from error

    async def _play(self, step: Step, place: str) -> None:
        while not await self._uninterrupted(self._do(step, place)):
            pass
        self.scene.app.caption(Caption(step.caption, place, HINT))
        await self._told(step)
        await self._uninterrupted(self._rest(step.caption, 1.5))
        await self._goes_on.wait()

    async def _uninterrupted(self, work: Coroutine[Any, Any, None]) -> bool:
        """False where a person took over meanwhile."""
        await self._goes_on.wait()
        doing, stopping = asyncio.ensure_future(work), asyncio.ensure_future(self._stops.wait())
        try:
            await asyncio.wait({doing, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                doing.result()
            return doing.done()
        finally:
            for task in (doing, stopping):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, NotSo, StepFailed):
                    await task

    async def _do(self, step: Step, place: str) -> None:
        self.scene.app.caption(Caption(step.intro, place, HINT, Ink.PLAIN))
        try:
            await self.scene.home()
            await self._rest(step.intro, 0.5)
            for act in step.acts:
                async with asyncio.timeout(2 * LIMIT_S):
                    await act(self.scene)
            for condition in step.until:
                if not condition.of_answers:
                    await self.scene.until(condition)
            async with asyncio.timeout(LIMIT_S):
                await self.scene.load.more(step.calls)
            for condition in step.until:
                await self.scene.until(condition)
        except NotSo as problem:
            raise StepFailed(step.name, str(problem)) from None
        except TimeoutError:
            raise StepFailed(step.name, "what it begins comes to an end") from None

    async def _rest(self, text: str, more_s: float) -> None:
        await asyncio.sleep(self._pace * (more_s + len(text) / _CHARACTERS_S))
