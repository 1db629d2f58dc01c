"""The threads that all programs share."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

__all__ = ["Task", "Then", "Threads"]

Then = Callable[[], None]
Task = Callable[[], Then | None]
"""Must not raise. What it returns is called once its thread is free for others: to wake who waits for the task."""

_STACK = 16 << 20
"""Lua may nest 200 C calls: that overflows the small stacks that some platforms give to threads."""
_starting = threading.Lock()


class Threads:
    """Up to ``size`` threads. A task goes to the thread that was busy last: few stay warm, many go cold.

    Each has a queue of its own: of several that wait at one queue, every task wakes two, and the second one, who
    gets nothing, is in the way of the first. A thread is started when a task finds none that is idle.
    A thread that does not come back from Lua cannot be ended: it is counted in ``stuck`` and replaced.
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = size or min(32, 4 * (os.cpu_count() or 1))
        self.stuck = 0
        self._lock = threading.Lock()
        self._surplus = 0
        self._open = True
        self._threads: dict[threading.Thread, SimpleQueue[Task | None]] = {}
        self._idle: deque[SimpleQueue[Task | None]] = deque()
        self._backlog: deque[Task] = deque()

    @property
    def wanted(self) -> bool:
        """A thread that becomes free now would serve others, or leave."""
        return self._open and (bool(self._backlog) or self._surplus > 0)

    def submit(self, task: Task) -> None:
        """After `close` the task runs at once, on the calling thread."""
        if not self._open:
            _run(task)
            return
        try:
            queue = self._idle.pop()
        except IndexError:
            if len(self._threads) < self.size + self.stuck:
                self._start(task)
            else:
                self._backlog.append(task)
                self._hand_out()
        else:
            queue.put(task)

    def lost(self) -> None:
        """A thread is stuck: start another."""
        with self._lock:
            self.stuck += 1
        self._start(None)

    def found(self) -> None:
        """A stuck thread came back: one thread too many."""
        with self._lock:
            self.stuck -= 1
            self._surplus += 1

    def close(self, timeout_s: float) -> None:
        """Ends the threads; those that are stuck in Lua after ``timeout_s`` are left behind."""
        with _starting:  # none is about to start, and none will
            self._open = False
            threads = dict(self._threads)
        for queue in threads.values():
            queue.put(None)
        for thread in threads:
            thread.join(timeout_s)
        for queue in threads.values():
            while not queue.empty():
                if (task := queue.get()) is not None:
                    _run(task)
        while self._backlog:
            _run(self._backlog.popleft())

    def _start(self, task: Task | None) -> None:
        queue: SimpleQueue[Task | None] = SimpleQueue()
        thread = threading.Thread(target=self._work, args=(queue,), name="lua", daemon=True)
        if task is not None:
            queue.put(task)
        with _starting:
            opened = self._open
            if opened:
                self._threads[thread] = queue
                before = threading.stack_size(_STACK)
                try:
                    thread.start()
                finally:
                    threading.stack_size(before)
        if not opened and task is not None:
            _run(task)
        elif opened and task is None:
            self._rest(queue)

    def _work(self, queue: SimpleQueue[Task | None]) -> None:
        while (task := queue.get()) is not None:
            then = task()
            del task  # or it would keep its state alive until the next one
            leaving = self._surplus > 0 and self._leave()
            if not leaving:
                self._rest(queue)
            if then is not None:
                then()
                del then
            if leaving:
                break

    def _rest(self, queue: SimpleQueue[Task | None]) -> None:
        self._idle.append(queue)
        if self._backlog:
            self._hand_out()

    def _hand_out(self) -> None:
        """Whoever adds a task or an idle thread looks for the other one afterwards: so none of them is overlooked."""
        while self._backlog:
            try:
                queue = self._idle.pop()
            except IndexError:
                return
            try:
                queue.put(self._backlog.popleft())
            except IndexError:  # somebody else was faster
                self._idle.append(queue)

    def _leave(self) -> bool:
        with self._lock:
            leaving = self._surplus > 0
            self._surplus -= leaving
        if leaving:
            del self._threads[threading.current_thread()]
        return leaving


def _run(task: Task) -> None:
    then = task()
    if then is not None:
        then()
