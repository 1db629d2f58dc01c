"""Slots of a capability: at most ``concurrency`` calls run, the others wait in line.

A limiter belongs to a capability, not to a generation: a reload neither frees nor doubles the
slots, so a new version cannot be used to get round the limit.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.registry.occupancy import Occupancy

__all__ = ["QUEUE_FACTOR", "Limiter"]

QUEUE_FACTOR = 4
"""Calls that may wait, per slot; a fuller queue refuses."""


class Limiter:
    """First come, first served; each waiter against its own deadline. Used on the kernel's loop only."""

    def __init__(self, capability_id: str, concurrency: int, clock: Clock) -> None:
        self._id = capability_id
        self._concurrency = concurrency
        self._clock = clock
        self._inside = Occupancy()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held = False

    @property
    def running(self) -> int:
        return self._inside.count

    @property
    def queued(self) -> int:
        return sum(not future.done() for future in self._waiting)

    def resize(self, concurrency: int) -> None:
        """A tighter limit never cuts a running call; a wider one lets waiters in at once."""
        self._concurrency = concurrency
        self._admit()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Meanwhile calls wait, as many as come; only those go on that descend from one that runs."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._admit()

    async def idle(self) -> None:
        """Until no call has a slot."""
        await self._inside.empty()

    def take(self, ancestors: Sequence[str] = ()) -> bool:
        """A slot without waiting, where there is one and nobody waits in line."""
        if self._inside.count < self._concurrency and (
            self._id in ancestors if self._held else not self._waiting or not self.queued
        ):
            self._inside.enter()
            return True
        return False

    async def acquire(self, deadline: float, ancestors: Sequence[str] = ()) -> None:
        """Takes a slot, in line. ``deadline`` is on the monotonic clock, in seconds.

        Raises `CallFailed`: ``ConcurrencyLimited`` where the queue is full (during a hold it never is) or the
        wait would be for a slot that the call's own ancestor holds, ``Timeout`` where the deadline passes in line.
        """
        if self.take(ancestors):
            return
        if self._id in ancestors:
            raise failure(
                ErrorKind.CONCURRENCY_LIMITED,
                f"{self._id} is full and this call descends from one of its own calls: waiting could never end",
            )
        if not self._held and self.queued >= QUEUE_FACTOR * self._concurrency:
            raise failure(
                ErrorKind.CONCURRENCY_LIMITED,
                f"{self._id} runs {self.running} calls and {self.queued} wait: the queue is full",
                retryable=True,
            )
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            # not wait_for: up to Python 3.11 it swallows a cancellation that meets a granted slot
            async with asyncio.timeout(max(0.0, deadline - self._clock.monotonic())):
                await future
        except TimeoutError:
            if future.done() and not future.cancelled():
                self.release()
            raise failure(ErrorKind.TIMEOUT, f"the deadline passed while waiting for a slot of {self._id}") from None
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.release()  # the slot was granted in the same turn of the loop as the cancellation
            raise
        finally:
            if future in self._waiting:
                self._waiting.remove(future)

    def release(self) -> None:
        self._inside.leave()
        if self._waiting:
            self._admit()

    def _admit(self) -> None:
        while self._waiting and self._inside.count < self._concurrency and not self._held:
            future = self._waiting.popleft()
            if not future.done():
                self._inside.enter()
                future.set_result(None)
