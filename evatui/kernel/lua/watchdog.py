"""Deadlines, kept by a thread of their own: an event loop that is busy would be late."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable

__all__ = ["Alarm", "Watchdog"]

_SLACK = 256
"""Cancelled alarms that may stay in the heap, beyond as many as are alive."""


class Alarm:
    """Fires once, unless cancelled before."""

    __slots__ = ("_dog", "_fire")

    def __init__(self, dog: Watchdog, fire: Callable[[], None]) -> None:
        self._dog: Watchdog | None = dog
        self._fire: Callable[[], None] | None = fire

    @property
    def live(self) -> bool:
        return self._fire is not None

    def cancel(self) -> None:
        """Also lets go of what it would have called."""
        dog, self._dog, self._fire = self._dog, None, None
        if dog is not None:
            dog.forget()

    def fire(self) -> None:
        fire, self._dog, self._fire = self._fire, None, None
        if fire is not None:
            fire()


class Watchdog:
    """``watch`` and `Alarm.cancel` are for any thread. What fires must be quick: it delays the others."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._heap: list[tuple[float, int, Alarm]] = []
        self._count = 0
        self._cancelled = 0
        self._open = True
        self._thread = threading.Thread(target=self._patrol, name="lua-watchdog", daemon=True)
        self._thread.start()

    def watch(self, deadline: float, fire: Callable[[], None]) -> Alarm:
        """Calls ``fire`` when the monotonic clock reaches ``deadline``, in seconds."""
        alarm = Alarm(self, fire)
        with self._wake:
            self._count += 1
            heapq.heappush(self._heap, (deadline, self._count, alarm))
            if self._heap[0][2] is alarm:
                self._wake.notify()
        return alarm

    def forget(self) -> None:
        with self._wake:
            self._cancelled += 1
            if self._cancelled > _SLACK + len(self._heap) // 2:
                self._heap = [entry for entry in self._heap if entry[2].live]
                heapq.heapify(self._heap)
                self._cancelled = 0

    def close(self) -> None:
        """Nothing fires any more; returns when the thread is gone."""
        with self._wake:
            self._open = False
            self._heap.clear()
            self._wake.notify()
        self._thread.join()

    def _patrol(self) -> None:
        while (due := self._next()) is not None:
            due.fire()
            del due

    def _next(self) -> Alarm | None:
        with self._wake:
            while self._open:
                left = self._heap[0][0] - time.monotonic() if self._heap else None
                if left is not None and left <= 0:
                    return heapq.heappop(self._heap)[2]
                self._wake.wait(left if left is None else min(left, threading.TIMEOUT_MAX))
        return None
