"""Commands on their way to the runtime: once sent they are the kernel's, whatever becomes of the dialog."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from evatui.console.view.sent import Sent
from evatui.control.failing import CommandFailed
from evatui.control.operator import OnProgress, Operator
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import new_id

__all__ = ["Commands", "internal"]


class Commands:
    """Runs commands to their end. ``done`` is told of every one that has ended."""

    def __init__(self, operator: Operator, done: Callable[[Sent], None]) -> None:
        self._operator = operator
        self._done = done
        self._running: set[asyncio.Task[Sent]] = set()

    async def run(self, command: str, *, on_progress: OnProgress | None = None, **params: Any) -> Sent:
        """Waits for the outcome. Cancelling the waiter leaves the command running, and ``done`` still hears of it.

        ``on_progress`` hears how far a call has come; it must not raise.
        """
        task = asyncio.create_task(self._run(command, on_progress, params))
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def _run(self, command: str, on_progress: OnProgress | None, params: Mapping[str, Any]) -> Sent:
        started, request_id = time.perf_counter(), new_id("req")
        data: Mapping[str, Any] | None = None
        failed: CommandFailed | None = None
        try:
            data = await self._operator.run(command, on_progress=on_progress, request_id=request_id, **params)
        except CommandFailed as problem:
            failed = problem
        except Exception as problem:
            failed = internal("the runtime failed to answer", problem)
        took = (time.perf_counter() - started) * 1000
        return Sent(command=command, params=params, request_id=request_id, took_ms=took, data=data, failed=failed)

    def _ended(self, task: asyncio.Task[Sent]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            self._done(task.result())


def internal(what: str, problem: BaseException | None) -> CommandFailed:
    """A defect. Its text may name anything, so only its kind is told."""
    return CommandFailed(ErrorKind.INTERNAL, f"{what} ({type(problem).__name__})")
