"""Playing the tour: step by step, each one waiting for its conditions, and at any time a person's instead."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from textual import events

from evatui.console.screens.dialog import Dialog
from evatui.console.view.ink import Ink
from evatui.console.view.key_names import key_name
from evatui.demo.band import Caption
from evatui.demo.step import Condition, Step

if TYPE_CHECKING:
    from evatui.demo.app import DemoApp
    from evatui.demo.load import Load
    from evatui.demo.outside import Outside

__all__ = ["HINT", "LIMIT_S", "StepFailed", "Tour"]

HINT = "any key: yours"
_LOOK_S = 0.02
LIMIT_S = 60.0
"""For a condition to come: many times what it takes."""
_CHARACTERS_S = 16
"""Characters of a caption that are read in a second."""


class StepFailed(Exception):
    """``step`` is its name, ``what`` the condition that did not come."""

    def __init__(self, step: str, what: str) -> None:
        super().__init__(f"step {step}: it is not so that {what}")
        self.step = step
        self.what = what


class _NotSo(Exception):
    """Its text is the condition."""


class Tour:
    """``told`` hears of each step as its caption is said. ``pace`` multiplies the time to read, and nothing else."""

    def __init__(
        self, app: DemoApp, load: Load, outside: Outside, *, pace: float, told: Callable[[Step], Awaitable[None]]
    ) -> None:
        self.app = app
        self.load = load
        self.outside = outside
        self._pace = pace
        self._told = told
        self._mine: list[events.Key] = []
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._stops = asyncio.Event()

    # --- a person ---------------------------------------------------------------------------------

    def presses(self, event: events.Key) -> bool:
        """Whether it was the tour that pressed it."""
        mine = event in self._mine
        if mine:
            self._mine.remove(event)
        return mine

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
        self.app.caption(Caption(step.caption, place, HINT))
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
                with contextlib.suppress(asyncio.CancelledError, _NotSo, StepFailed):
                    await task

    async def _do(self, step: Step, place: str) -> None:
        self.app.caption(Caption(step.intro, place, HINT, Ink.PLAIN))
        try:
            await self._home()
            await self._rest(step.intro, 0.5)
            for act in step.acts:
                async with asyncio.timeout(2 * LIMIT_S):
                    await act(self)
            for condition in step.until:
                if not condition.of_answers:
                    await self.until(condition)
            async with asyncio.timeout(LIMIT_S):
                await self.load.more(step.calls)
            for condition in step.until:
                await self.until(condition)
        except _NotSo as problem:
            raise StepFailed(step.name, str(problem)) from None
        except TimeoutError:
            raise StepFailed(step.name, "what it begins comes to an end") from None

    async def _rest(self, text: str, more_s: float) -> None:
        await asyncio.sleep(self._pace * (more_s + len(text) / _CHARACTERS_S))

    async def until(self, condition: Condition) -> None:
        """Waits for it. What does not come fails the step."""
        end = asyncio.get_running_loop().time() + LIMIT_S
        while not condition.holds(self):
            if asyncio.get_running_loop().time() > end:
                raise _NotSo(condition.what)
            await asyncio.sleep(_LOOK_S)

    # --- keys -------------------------------------------------------------------------------------

    async def press(self, *keys: str) -> None:
        """By name, or as the sign on the key; a dialog gets none before it takes one."""
        for key in keys:
            await self.until(_READY)
            event = events.Key(key_name(key), key if len(key) == 1 else None)
            event.set_sender(self.app)
            self._mine.append(event)
            self.app.post_message(event)

    async def _home(self) -> None:
        """Back to the console itself, out of whatever is open."""
        while (depth := len(self.app.screen_stack)) > 1 or self.app.frame.types:
            await self.press("escape")
            await self.until(
                Condition(
                    "what is open closes",
                    lambda tour: len(tour.app.screen_stack) < max(depth, 2) and not tour.app.frame.types,
                )
            )


_READY = Condition(
    "what is open, or on its way, takes keys",
    lambda tour: not tour.app.fetches and (not isinstance(tour.app.screen, Dialog) or tour.app.screen.armed),
)
