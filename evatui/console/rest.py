"""When a console that is looked at by a program, and not by a person, has done all it was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.worker import Worker

__all__ = ["at_rest"]


async def at_rest(app: App[Any], counts: Callable[[Worker[Any]], bool] = lambda worker: True) -> None:
    """Waits until no worker that ``counts`` runs; not to be called by one of them.

    One that another took the place of is over like one that has ended: Textual's own wait raises `WorkerCancelled`
    for it, whenever it comes at that moment.
    """
    while running := [worker for worker in app.workers if counts(worker) and not worker.is_finished]:
        await asyncio.gather(*(worker.wait() for worker in running), return_exceptions=True)
