"""Many records, one wait for the disk: whoever comes while it is busy shares the next group."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any, Final

from evatui.kernel.model.errors import CallFailed

__all__ = ["ACCEPTED", "Acceptance", "Entry", "Groups"]

_AT_ONCE = 1024
_log = logging.getLogger(__name__)


class Acceptance:
    """Of one record. Either way of waiting raises `CallFailed` ``AuditUnavailable`` where it is not accepted in time.

    This one is of a record that was accepted at once.
    """

    def wait(self) -> None:
        """Blocking."""

    async def settled(self) -> None:
        """For an event loop."""


ACCEPTED: Final = Acceptance()


class Entry(Acceptance):
    """A record to be, and the one who waits for it. ``details`` go into the failure, if it becomes one.

    ``late`` makes the failure of a record that the disk does not take within ``give_up_s``.
    """

    def __init__(
        self,
        code: str,
        outcome: str,
        fields: Mapping[str, Any],
        details: Mapping[str, Any],
        give_up_s: float,
        late: Callable[[Mapping[str, Any]], CallFailed],
    ) -> None:
        self.code = code
        self.outcome = outcome
        self.fields = fields
        self.details = details
        self._give_up_s = give_up_s
        self._late = late
        self._lock = threading.Lock()
        self._is_settled = False
        self._failure: CallFailed | None = None
        self._waiter: threading.Event | asyncio.Future[None] | None = None

    def wait(self) -> None:
        news = threading.Event()
        if self._waits(news):
            news.wait(self._give_up_s)
        self._look()

    async def settled(self) -> None:
        if not self._is_settled:  # by the thread that brought it
            await self._news()
        self._look()

    def settle(self, failure: CallFailed | None) -> threading.Event | asyncio.Future[None] | None:
        """It is on disk, or it failed; who is to be told."""
        with self._lock:
            self._failure, self._is_settled = failure, True
            return self._waiter

    async def _news(self) -> None:
        loop = asyncio.get_running_loop()
        news = loop.create_future()
        if self._waits(news):
            alarm = loop.call_later(self._give_up_s, _wake, (news,))
            try:
                await news
            finally:
                alarm.cancel()

    def _waits(self, news: threading.Event | asyncio.Future[None]) -> bool:
        with self._lock:
            self._waiter = news
            return not self._is_settled

    def _look(self) -> None:
        if not self._is_settled:
            raise self._late(self.details)
        if self._failure is not None:
            raise self._failure


class Groups:
    """Hands entries to ``write``, one group at a time; it says of each entry why it failed.

    A thread of its own writes them. Who may be held by a disk that hangs, and comes while nothing is being written,
    writes ``inline`` instead, in its own thread: two hand-offs between threads take longer than a good disk.
    """

    def __init__(self, write: Callable[[Sequence[Entry]], Callable[[Entry], CallFailed | None]]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._waiting: deque[Entry] = deque()
        self._writing = self._closing = False
        self._turns: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="eva-audit", daemon=True)
        self._thread.start()

    def add(self, entry: Entry, *, inline: bool) -> None:
        """``inline`` blocks where nothing is being written: then ``entry`` is settled afterwards."""
        with self._lock:
            if self._writing or not inline:
                self._waiting.append(entry)
                if not self._writing:
                    self._writing = True
                    self._turns.put(True)
                return
            self._writing = True
        try:
            self._settle((entry,))
        finally:
            self._go_on()

    def close(self, wait_s: float) -> None:
        """What was added before is still written, if the disk takes it in time."""
        with self._lock:
            self._closing = True
            if not self._writing:
                self._turns.put(False)
        self._thread.join(wait_s)

    def _go_on(self) -> None:
        """It is the turn of those who wait, if there are any."""
        with self._lock:
            self._writing = bool(self._waiting)
            if self._writing or self._closing:
                self._turns.put(self._writing)

    def _run(self) -> None:
        while self._turns.get():
            with self._lock:
                group = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
            try:
                self._settle(group)
            except Exception:  # whoever waits for it hears that it is late
                _log.exception("a group of records could not be written")
            finally:
                self._go_on()

    def _settle(self, group: Sequence[Entry]) -> None:
        """Each loop is woken once, for all who wait there."""
        failure_of = self._write(group)
        waiting: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
        for entry in group:
            news = entry.settle(failure_of(entry))
            if isinstance(news, threading.Event):
                news.set()
            elif news is not None:
                waiting.setdefault(news.get_loop(), []).append(news)
        for loop, futures in waiting.items():
            with contextlib.suppress(RuntimeError):  # that loop has ended
                loop.call_soon_threadsafe(_wake, futures)


def _wake(waiting: Iterable[asyncio.Future[None]]) -> None:
    for news in waiting:
        if not news.done():
            news.set_result(None)
