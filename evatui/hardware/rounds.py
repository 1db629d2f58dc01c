"""When sources look again: all of them together, and sooner where something is due, was noticed, or somebody asks.

Waking the process costs more than a look, and four sources that wake it for themselves cost four times as much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from evatui.hardware.sighting import Bus
from evatui.hardware.sources.source import Source

__all__ = ["POLL_S", "Rounds"]

POLL_S: Final = 0.5
_HINTS_S: Final = (0.02, 0.1)
"""How soon it is looked where something was noticed: for what came, and again for what went, since one look that misses
a device is not enough."""
_NODES: Final = (Bus.SERIAL, Bus.HID)
"""Devices of these have nodes."""
_AFTER_S: Final = 0.001


class Rounds:
    """For one loop. Sources go by their names."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._asked = {source.name: (source.bus, asyncio.Event()) for source in sources}
        self._hints: list[asyncio.TimerHandle] = []

    def begin(self, name: str) -> None:
        """What is asked for from now on is for the look after this one."""
        self._asked[name][1].clear()

    def is_asked(self, name: str) -> bool:
        return self._asked[name][1].is_set()

    def ask(self, *buses: Bus) -> None:
        """Their sources look now, or again where they are just looking."""
        for bus, asked in self._asked.values():
            if bus in buses:
                asked.set()

    def hint(self) -> None:
        """Something was noticed: a round of looks is for all that comes meanwhile, the next for what comes later."""
        if not self._hints:
            loop = asyncio.get_running_loop()
            self._hints = [loop.call_later(wait, self.ask, *_NODES) for wait in _HINTS_S]
            self._hints.append(loop.call_later(_HINTS_S[-1], self._hints.clear))

    async def pause(self, name: str, due_s: float | None) -> None:
        """Until the next round, until something is due in ``due_s`` seconds, or somebody asks."""
        loop, (_, asked) = asyncio.get_running_loop(), self._asked[name]
        wait = POLL_S - loop.time() % POLL_S
        if due_s is not None:
            wait = min(wait, max(0.0, due_s) + _AFTER_S)
        timer = loop.call_later(wait, asked.set)
        try:
            await asked.wait()
        finally:
            timer.cancel()

    def close(self) -> None:
        for hint in self._hints:
            hint.cancel()
