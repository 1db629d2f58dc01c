"""Blocking work on a thread of its own: it may take long, and the shared threads must not all wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["apart"]

T = TypeVar("T")


async def apart(work: Callable[[], T], name: str) -> T:
    """What ``work`` returns or raises. It is done even where nobody waits any more, but keeps no program alive."""
    answer: Future[T] = Future()
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(answer)
