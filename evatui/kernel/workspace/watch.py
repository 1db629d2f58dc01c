"""Hints that something on disk has changed. What has changed is for the reader to find out."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.lookout import Lookout
from evatui.kernel.workspace.notices import MANY
from evatui.kernel.workspace.watch_health import WatchHealth

__all__ = ["Watch", "WatchHealth"]

_FAREWELL_S = 2.0
_POSTPONED_S = 0.25
_ARMED_S = 1.0


class Watch:
    """An async iterator of relative paths, gathered until they are asked for. Made and used on one running loop.

    An empty set means: look at everything. It comes first, once the watch is armed, unless that is `answered`
    already; after each gap (a folder made anew, another way of watching, a flood, notices that the system dropped);
    and ``watch.rescan_s`` after the last one, unless a set of changes is just under way.
    Editor files, ``.git`` and the state folder give no hint. Nothing on disk ends the iteration, only `close`.
    """

    def __init__(self, layout: Layout, debounce_ms: int | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._lock = threading.Lock()
        self._pending: set[str] = set()
        self._everything = False
        self._closed = False
        self._rescan_s = layout.watch.rescan_s
        self._rescan_at = self._loop.time() + self._rescan_s
        self._lookout = Lookout(layout, layout.watch.debounce_ms if debounce_ms is None else debounce_ms, self._take)
        self._lookout.start()

    @property
    def health(self) -> WatchHealth:
        return self._lookout.health

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> frozenset[str]:
        while not self._closed:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._rescan_at):
                    await self._ready.wait()
            hints = self._give()
            if hints is not None and not self._closed:
                return hints
        raise StopAsyncIteration

    async def answered(self) -> None:
        """Once it is armed, and after a second at the latest: all is about to be looked at anyway, so what was told so
        far asks for no look of its own."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ARMED_S):
                await self._ready.wait()
        self._give()

    async def close(self) -> None:
        """Ends the iteration and the thread. Idempotent."""
        self._closed = True
        self._ready.set()
        self._lookout.stop()
        await asyncio.to_thread(self._lookout.join, _FAREWELL_S)

    def _give(self) -> frozenset[str] | None:
        """What has gathered; None where there is nothing, since it was given away before the wake-up arrived."""
        with self._lock:
            self._ready.clear()
            hints, self._pending = frozenset(self._pending), set()
            everything, self._everything = self._everything, False
        now = self._loop.time()
        due = now >= self._rescan_at
        if due and not everything and self._lookout.holding:
            self._rescan_at, due = now + _POSTPONED_S, False
        if everything or due:
            self._rescan_at = now + self._rescan_s
            return frozenset()
        return hints or None

    def _take(self, hints: frozenset[str]) -> None:
        """Called in the lookout's thread."""
        with self._lock:
            known = self._everything or bool(self._pending)
            self._pending |= hints
            self._everything |= not hints or len(self._pending) > MANY
            if self._everything:
                self._pending.clear()
        if not known:
            try:
                self._loop.call_soon_threadsafe(self._ready.set)
            except RuntimeError:  # the loop has ended without closing the watch
                self._lookout.stop()
