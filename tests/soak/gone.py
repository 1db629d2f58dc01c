"""Objects that should be freed, and whether they were."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from typing import Any

__all__ = ["Gone"]


class Gone:
    """Watches groups of objects through weak references. A group is gone once all of it is freed.

    No collection of cycles is asked for: what only that would free counts as alive for the while.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._freed = asyncio.Event()
        self._groups: list[list[weakref.ref[Any]]] = []
        self.watched = 0

    def watch(self, *objects: Any) -> None:
        self.watched += 1
        self._alive()
        self._groups.append([weakref.ref(one, self._one_freed) for one in objects])

    async def wait(self, seconds: float) -> int:
        """Waits until all are gone, at most ``seconds``. Returns how many groups are not."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._alive():
                    self._freed.clear()
                    await self._freed.wait()
        return self._alive()

    def _alive(self) -> int:
        self._groups = [group for group in self._groups if any(reference() is not None for reference in group)]
        return len(self._groups)

    def _one_freed(self, _: weakref.ref[Any]) -> None:
        """Called in whichever thread let go of the object."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._freed.set)
