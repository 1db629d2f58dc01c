"""How many are inside, and who waits until nobody is."""

from __future__ import annotations

import asyncio

__all__ = ["Occupancy"]


class Occupancy:
    """Used on the kernel's loop only. Who enters and leaves pays nothing for a wait that nobody waits."""

    __slots__ = ("_emptied", "_hurried", "count")

    def __init__(self) -> None:
        self.count = 0
        self._emptied: asyncio.Event | None = None
        self._hurried = False

    def enter(self) -> None:
        self.count += 1

    def leave(self) -> None:
        self.count -= 1
        if not self.count:
            self._wake()

    def hurry(self) -> None:
        """Whoever waits for so many seconds has waited long enough."""
        self._hurried = True
        self._wake()

    async def empty(self, seconds: float | None = None) -> bool:
        """Until nobody is inside, were it for a moment; false where that did not come within ``seconds``, or before
        somebody was in a hurry."""
        if not self.count:
            return True
        if self._hurried and seconds is not None:
            return False
        if self._emptied is None:
            self._emptied = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                await self._emptied.wait()
        except TimeoutError:
            return False
        return not (self._hurried and self.count)

    def _wake(self) -> None:
        if self._emptied is not None:
            self._emptied.set()
            self._emptied = None
