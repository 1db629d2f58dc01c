"""Changes that came together take effect together: one assignment of the table for all that are ready."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final

from evatui.kernel.registry.move import Move

__all__ = ["TOGETHER_SECONDS", "Slot", "Together"]

TOGETHER_SECONDS: Final = 0.25
"""The longest that a change which is ready waits for the others of its set."""


class Together:
    """One set of changes. ``commit`` makes one assignment of the moves that still stand, and says which did.

    A set of one waits for nothing. What is refused, or waits for a person, holds up nobody; what is slow holds up the
    others for `TOGETHER_SECONDS`, and takes effect with what is slow like it.
    """

    def __init__(self, commit: Callable[[Sequence[Move]], Sequence[bool]], places: asyncio.Semaphore) -> None:
        self._commit = commit
        self._places = places
        self._coming = 0
        self._ready: dict[asyncio.Future[bool], Move] = {}
        self._timer: asyncio.TimerHandle | None = None

    def slot(self) -> Slot:
        """For one more change of the set; all of them are taken before the first one is worked on."""
        self._coming += 1
        return Slot(self, self._places)

    def arrived(self) -> None:
        """A change of the set is ready, or will not be."""
        self._coming -= 1
        self.look()

    def ready(self, move: Move) -> asyncio.Future[bool]:
        """From now on it waits for the others; the future is for `settled`."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bool] = loop.create_future()
        self._ready[future] = move
        if self._timer is None:
            self._timer = loop.call_later(TOGETHER_SECONDS, self._switch)
        return future

    def look(self) -> None:
        """Whoever is ready takes effect, where nobody is waited for any more."""
        if not self._coming:
            self._switch()

    async def settled(self, future: asyncio.Future[bool]) -> bool:
        try:
            return await future
        except asyncio.CancelledError:
            self._ready.pop(future, None)
            if future.done() and not future.cancelled():  # it serves already: who ends the runtime drains it
                return future.result()
            raise

    def _switch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # Who was cancelled in this turn of the loop has not heard of it yet, and will not want to have taken effect.
        ready = {future: move for future, move in self._ready.items() if not future.cancelled()}
        self._ready.clear()
        if not ready:
            return
        try:
            stood = self._commit(tuple(ready.values()))
        except Exception as error:
            for future in ready:
                future.set_exception(error)
            return
        for future, took_effect in zip(ready, stood, strict=True):
            future.set_result(took_effect)


class Slot:
    """The part of one change in its set: entered when it is worked on, which takes one of the ``places``."""

    def __init__(self, together: Together, places: asyncio.Semaphore) -> None:
        self._together = together
        self._places = places
        self._arrived = False

    async def __aenter__(self) -> Slot:
        try:
            await self._places.acquire()
        except BaseException:
            self._arrived = True
            self._together.arrived()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._arrive()

    async def take_effect(self, move: Move) -> bool:
        """Waits for the others; whether it took effect: False where it was not wanted any more.

        Its place is free for others meanwhile. Raises what the assignment raised: then nothing has changed.
        """
        future = self._together.ready(move)
        self._arrive()
        self._together.look()
        return await self._together.settled(future)

    def _arrive(self) -> None:
        if not self._arrived:
            self._arrived = True
            self._places.release()
            self._together.arrived()


def alone(commit: Callable[[Sequence[Move]], Sequence[bool]]) -> Slot:
    """For a change that waits for no other."""
    return Together(commit, asyncio.Semaphore()).slot()
