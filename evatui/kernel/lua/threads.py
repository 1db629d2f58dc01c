"""The threads that all programs share."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

__all__ = ["Threads"]

_STACK = 16 << 20
"""Lua may nest 200 C calls: that overflows the small stacks that some platforms give to threads."""
_starting = threading.Lock()


class Threads:
    """Up to ``size`` threads that take tasks from one queue. A task must not raise.

    A thread is started when a task finds none that is idle: few threads stay warm, many go cold.
    A thread that does not come back from Lua cannot be ended: it is counted in ``stuck`` and replaced.
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = size or min(32, 4 * (os.cpu_count() or 1))
        self.stuck = 0
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._surplus = 0
        self._open = True
        self._threads: set[threading.Thread] = set()
        self._idle: deque[None] = deque()  # an entry for each idle thread; after a rush there may be more

    def submit(self, task: Callable[[], None]) -> None:
        """After `close` the task runs at once, on the calling thread."""
        if self._open:
            try:
                self._idle.pop()
            except IndexError:
                if len(self._threads) < self.size + self.stuck:
                    self._start()
            self._queue.put(task)
        else:
            task()

    def lost(self) -> None:
        """A thread is stuck: start another."""
        with self._lock:
            self.stuck += 1
        self._start()

    def found(self) -> None:
        """A stuck thread came back: one thread too many."""
        with self._lock:
            self.stuck -= 1
            self._surplus += 1

    def close(self, timeout_s: float) -> None:
        """Ends the threads; those that are stuck in Lua after ``timeout_s`` are left behind."""
        self._open = False
        for _ in tuple(self._threads):
            self._queue.put(None)
        for thread in tuple(self._threads):
            thread.join(timeout_s)
        while not self._queue.empty():
            if (task := self._queue.get()) is not None:
                task()

    def _start(self) -> None:
        thread = threading.Thread(target=self._work, name="lua", daemon=True)
        with _starting:
            before = threading.stack_size(_STACK)
            try:
                thread.start()
            finally:
                threading.stack_size(before)
        self._threads.add(thread)

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            task()
            del task  # or it would keep its state alive until the next one
            if self._surplus and self._leave():
                break
            self._idle.append(None)

    def _leave(self) -> bool:
        with self._lock:
            leaving = self._surplus > 0
            self._surplus -= leaving
        if leaving:
            self._threads.discard(threading.current_thread())
        return leaving
