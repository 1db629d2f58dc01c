"""The event bus: everyone may listen, nobody can slow it down."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.event import Event
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.topic import is_kernel_topic, is_topic, is_topic_pattern, topic_matches
from evatui.kernel.model.topics import misfit
from evatui.kernel.records.window import Window

__all__ = ["EventBus", "Subscription"]

_MAX_BYTES = 16 * 1024 * 1024


class Subscription:
    """One listener's own queue; when it is full its oldest events go, and ``dropped`` counts them.

    ``async for event in subscription`` ends when it is closed and empty. Any thread and any loop may read or close.
    """

    def __init__(self, pattern: str, capacity: int, on_close: Callable[[Subscription], None]) -> None:
        self.pattern = pattern
        self._queue: Window[Event] = Window(capacity, _MAX_BYTES)
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._closed = False
        self._on_close = on_close

    @property
    def dropped(self) -> int:
        return self._queue.dropped

    def push(self, event: Event, size: int) -> int:
        """Called by the bus; returns how many events were lost by it."""
        with self._lock:
            before = self._queue.dropped
            self._queue.push(event.seq, event, size)
            self._wake()
            return self._queue.dropped - before

    async def get(self) -> Event | None:
        """The next event, waiting for it; None once the subscription is closed and empty."""
        while True:
            with self._lock:
                if self._queue:
                    return self._queue.pop()
                if self._closed:
                    return None
                waiter = (asyncio.get_running_loop(), asyncio.Event())
                self._waiting.append(waiter)
            try:
                await waiter[1].wait()
            finally:
                with self._lock, contextlib.suppress(ValueError):  # woken, or else given up
                    self._waiting.remove(waiter)

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        event = await self.get()
        if event is None:
            raise StopAsyncIteration
        return event

    def close(self) -> None:
        """No more events come; those already queued can still be read. Idempotent."""
        self._on_close(self)
        with self._lock:
            self._closed = True
            self._wake()

    def _wake(self) -> None:
        for loop, news in self._waiting:
            with contextlib.suppress(RuntimeError):  # that loop has ended
                loop.call_soon_threadsafe(news.set)
        self._waiting.clear()


class EventBus:
    """Thread-safe. Keeps the newest events for `since`, at most ``ring`` of them and 16 MiB."""

    def __init__(self, clock: Clock, ring: int = 4096) -> None:
        self.on_emit: Callable[[Event], None] | None = None
        """Called with each event, in the thread that emits it and outside the lock: must be cheap, must not raise."""
        self._clock = clock
        self._lock = threading.Lock()
        self._ring: Window[Event] = Window(ring, _MAX_BYTES)
        self._subscriptions: tuple[Subscription, ...] = ()
        self._seq = 0
        self._lost = 0

    @property
    def lost(self) -> int:
        """Events that slow subscribers have lost, all together."""
        return self._lost

    def emit(self, topic: str, payload: Mapping[str, Any], *, actor: Actor = KERNEL, cause: str | None = None) -> Event:
        """Number the event and hand it to everyone whose pattern matches. Never waits for a subscriber.

        The payload is copied. Raises `ValueError` where ``topic`` is none, or is the kernel's and not as the table of
        `TOPICS` has it, `TypeError` where the payload is not JSON-like: who emits for others checks before.
        """
        if not is_topic(topic):
            raise ValueError(f"not a topic: {topic!r}")
        if is_kernel_topic(topic) and (problem := misfit(topic, payload)):
            raise ValueError(problem)
        data = orjson.dumps(dict(payload))
        copy: dict[str, Any] = orjson.loads(data)
        with self._lock:
            self._seq += 1
            at = rfc3339(self._clock.now())
            event = Event(self._seq, new_id("evt"), topic, at, actor, cause, copy)
            self._ring.push(event.seq, event, len(data))
            for subscription in self._subscriptions:
                if topic_matches(subscription.pattern, topic):
                    self._lost += subscription.push(event, len(data))
        if self.on_emit:
            self.on_emit(event)
        return event

    def subscribe(self, pattern: str = "/**", capacity: int = 1024, *, last: int = 0) -> Subscription:
        """First come the ``last`` events of ``pattern`` that are still kept, then each new one: none twice, and none
        left out in between. Raises `ValueError` where ``pattern`` is none."""
        if not is_topic_pattern(pattern):
            raise ValueError(f"not a topic pattern: {pattern!r}")
        subscription = Subscription(pattern, capacity, self._forget)
        with self._lock:
            for event, size in self._ring.newest(last, lambda event: topic_matches(pattern, event.topic)):
                subscription.push(event, size)
            self._subscriptions += (subscription,)
        return subscription

    def since(self, seq: int) -> tuple[tuple[Event, ...], int]:
        """The events after ``seq``, and how many of them are no longer kept; 0 asks for all that is kept."""
        with self._lock:
            return self._ring.since(seq)

    def _forget(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions = tuple(other for other in self._subscriptions if other is not subscription)
