"""How many calls of one program run at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque

__all__ = ["Slots"]


class Slots:
    """For one event loop; who waits is served in order. Taking a free slot waits for nothing."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take(self) -> bool:
        """Whether there was one free, which is now the caller's."""
        if self._free > 0:
            self._free -= 1
            return True
        return False

    async def wait(self, deadline: float) -> bool:
        """Whether one became free before ``deadline``, on the monotonic clock, in seconds."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                await turn
        except (TimeoutError, asyncio.CancelledError) as ended:
            if turn.done() and not turn.cancelled():  # it came in the same turn of the loop
                self.give()
            if isinstance(ended, TimeoutError):
                return False
            raise
        return True

    def give(self) -> None:
        """Gives a slot back: to whoever has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
