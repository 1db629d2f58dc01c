"""A source that asks the system looks in a thread of its own, so that one that hangs holds up nobody."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from dataclasses import dataclass
from typing import Final

from evatui.hardware.sighting import Sighting
from evatui.hardware.sources.source import Source

__all__ = ["DEADLINE_S", "FULL_S", "Look", "Looking"]

DEADLINE_S: Final = 2.0
FULL_S: Final = 5.0
"""So often the source looks, whatever a glance says."""
_MAX_SIGHTINGS: Final = 256


@dataclass(frozen=True, slots=True)
class Look:
    """What a source saw; None where it failed, and ``problem`` says how."""

    sightings: tuple[Sighting, ...] | None
    problem: str = ""
    took_ms: float = 0.0


class Looking:
    """For one loop. The thread is always the same, since some libraries want that, and begins with the first look.
    What costs much is read again where a glance shows that something may have changed, or was read but once so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._asked: queue.SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Future[Look]] | None]
        self._asked = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._pending: asyncio.Future[Look] | None = None
        self._glance: object = None
        self._last = Look(None)
        self._full_at = 0.0
        self._wanted = self._served = 0

    def renew(self) -> None:
        """No look that begins from now on trusts in a glance, until the source has looked."""
        self._wanted += 1

    async def look(self) -> Look:
        """Fails after `DEADLINE_S`; the next look then waits for the same answer."""
        if self.source.from_memory:
            return self._scan()
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=f"eva-{self.source.name}", daemon=True)
            self._thread.start()
        if self._pending is None:
            loop = asyncio.get_running_loop()
            self._pending = loop.create_future()
            self._asked.put((loop, self._pending))
        done, _ = await asyncio.wait({self._pending}, timeout=DEADLINE_S)
        if not done:
            return Look(None, f"no answer within {DEADLINE_S:g} s")
        answer, self._pending = self._pending.result(), None
        return answer

    def close(self) -> None:
        """The thread ends once its library has answered."""
        self._asked.put(None)

    def _serve(self) -> None:
        while (asked := self._asked.get()) is not None:
            loop, future = asked
            answer = self._scan()
            with contextlib.suppress(RuntimeError):  # that loop has ended
                loop.call_soon_threadsafe(_answer, future, answer)

    def _scan(self) -> Look:
        started, wanted = time.monotonic(), self._wanted
        try:
            glance = self.source.glance()  # before the look, or what comes meanwhile would be missed
            known = glance is not None and glance == self._glance and wanted == self._served
            if known and started < self._full_at:
                return self._last
            self._glance = None
            found = self.source.scan()
        except Exception as error:  # of the system's, while something is unplugged, or of the library's own
            return Look(None, type(error).__name__)
        self._served, self._full_at = wanted, started + FULL_S
        before, seen = self._last.sightings, tuple(found[:_MAX_SIGHTINGS])
        self._glance = glance if seen == before else None  # one reading may miss a device, or half of what it says
        self._last = Look(seen, took_ms=(time.monotonic() - started) * 1000)
        return self._last


def _answer(future: asyncio.Future[Look], answer: Look) -> None:
    if not future.done():
        future.set_result(answer)
