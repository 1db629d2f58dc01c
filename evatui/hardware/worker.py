"""The thread of one open device. A library may hang in it for as long as it likes: nobody waits for that who need not,
neither the loop, nor whoever ends the program."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

__all__ = ["Worker"]

T = TypeVar("T")


class Worker:
    """For one loop. What it is given is done one after the other, in a thread that begins with the first."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._last: asyncio.Future[None] | None = None

    def start(self, work: Callable[..., T], *given: Any) -> asyncio.Future[T]:
        """What ``work`` returns or raises. Raises `RuntimeError` after `finish`."""
        if self._last is not None:
            raise RuntimeError("it has ended")
        loop = asyncio.get_running_loop()
        doing: asyncio.Future[T] = loop.create_future()
        self._asked.put(partial(_do, loop, doing, partial(work, *given)))
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="eva-device", daemon=True)
            self._thread.start()
        return doing

    def finish(self, last: Callable[[], None]) -> None:
        """``last`` is done after all else, and then the thread ends. Idempotent."""
        if self._last is None:
            self._last = self.start(last)
            self._asked.put(None)

    async def finished(self) -> None:
        """Waits for that."""
        if self._last is not None:
            await asyncio.wait({self._last})

    def _serve(self) -> None:
        while (work := self._asked.get()) is not None:
            work()


def _do(loop: asyncio.AbstractEventLoop, doing: asyncio.Future[T], work: Callable[[], T]) -> None:
    tell: Callable[[], None]
    try:
        tell = partial(_succeed, doing, work())
    except Exception as error:
        tell = partial(_fail, doing, error)
    with contextlib.suppress(RuntimeError):  # that loop has ended
        loop.call_soon_threadsafe(tell)


def _succeed(doing: asyncio.Future[T], result: T) -> None:
    if not doing.done():
        doing.set_result(result)


def _fail(doing: asyncio.Future[Any], error: Exception) -> None:
    if not doing.done():
        doing.set_exception(error)
