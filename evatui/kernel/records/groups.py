"""Many records, one wait for the disk: whoever comes while it is busy shares the next group."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from evatui.kernel.model.errors import CallFailed

__all__ = ["ACCEPTED", "Acceptance", "Entry", "Groups"]

_AT_ONCE = 1024


class Acceptance:
    """Of one record. Either way of waiting raises `CallFailed` ``AuditUnavailable``: then it was not accepted in time.

    ``late`` makes the failure of a record that the disk does not take within ``give_up_s``.
    """

    def __init__(
        self, future: Future[None] | None = None, give_up_s: float = 0.0, late: Callable[[], CallFailed] | None = None
    ) -> None:
        self._future = future
        self._give_up_s = give_up_s
        self._late = late

    def wait(self) -> None:
        """Blocking."""
        if self._future is not None:
            try:
                self._future.result(self._give_up_s)
            except TimeoutError:
                raise self._given_up() from None

    async def settled(self) -> None:
        """For an event loop."""
        if self._future is not None:
            try:
                await asyncio.wait_for(asyncio.wrap_future(self._future), self._give_up_s)
            except TimeoutError:
                raise self._given_up() from None

    def _given_up(self) -> CallFailed:
        assert self._late is not None
        return self._late()


ACCEPTED = Acceptance()
"""Of a record that was accepted at once."""


@dataclass(slots=True)
class Entry:
    """A record to be, and who waits for it. ``details`` go into the failure, if it becomes one."""

    code: str
    outcome: str
    fields: Mapping[str, Any]
    details: Mapping[str, Any]
    future: Future[None] = field(default_factory=Future)

    def settle(self, failure: CallFailed | None) -> None:
        if self.future.set_running_or_notify_cancel():  # whoever gave up has cancelled it
            self.future.set_exception(failure) if failure else self.future.set_result(None)


class Groups:
    """A thread that hands what has come together meanwhile to ``write``, which must settle every entry."""

    def __init__(self, write: Callable[[Sequence[Entry]], None]) -> None:
        self._write = write
        self._queue: SimpleQueue[Entry | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="eva-audit", daemon=True)
        self._thread.start()

    def add(self, entry: Entry) -> None:
        self._queue.put(entry)

    def close(self, wait_s: float) -> None:
        """What was added before is still written, if the disk takes it in time."""
        self._queue.put(None)
        self._thread.join(wait_s)

    def _run(self) -> None:
        entry = self._queue.get()
        while entry is not None:
            group: list[Entry] = []
            while entry is not None and len(group) < _AT_ONCE:
                group.append(entry)
                try:
                    entry = self._queue.get_nowait()
                except Empty:
                    break
            else:
                self._write(group)
                continue
            self._write(group)
            entry = self._queue.get()
