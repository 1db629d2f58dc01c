"""Looking again at the disk, beside whatever else goes on, as often as it may have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["Following"]


class Following:
    """One look at a time, and one more for all that comes meanwhile. For one event loop.

    ``failed`` hears of a look that ended in a defect of the program; the next one may succeed.
    """

    def __init__(self, look: Callable[[], Awaitable[object]], failed: Callable[[Exception], None]) -> None:
        self._look = look
        self._failed = failed
        self._task: asyncio.Task[None] | None = None
        self._again = False

    def again(self) -> None:
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._catch_up())

    async def close(self) -> None:
        """Follows no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _catch_up(self) -> None:
        while self._again:
            self._again = False
            try:
                await self._look()
            except Exception as error:
                self._failed(error)
