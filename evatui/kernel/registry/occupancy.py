"""How many are inside, and who waits until nobody is."""

from __future__ import annotations

import asyncio

__all__ = ["Occupancy"]


class Occupancy:
    """Used on the kernel's loop only. Who enters and leaves pays nothing for a wait that nobody waits."""

    __slots__ = ("_emptied", "count")

    def __init__(self) -> None:
        self.count = 0
        self._emptied: asyncio.Event | None = None

    def enter(self) -> None:
        self.count += 1

    def leave(self) -> None:
        self.count -= 1
        if not self.count and self._emptied is not None:
            self._emptied.set()
            self._emptied = None

    async def empty(self) -> None:
        """Until nobody is inside, were it for a moment."""
        if self.count:
            if self._emptied is None:
                self._emptied = asyncio.Event()
            await self._emptied.wait()
