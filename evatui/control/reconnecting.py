"""An operator that outlives the runtime it is attached to: when one holds the workspace again, it is that one's."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.operator import OnProgress, refuse_if_readonly
from evatui.control.remote import RemoteOperator
from evatui.control.snapshot import ConsoleSnapshot, Cursor, RuntimeInfo
from evatui.kernel.workspace.lock import Holder

__all__ = ["ReconnectingOperator"]

_SOONEST_S = 0.25
_LATEST_S = 5.0

Dial = Callable[[], Awaitable[RemoteOperator]]
"""Attaches to whoever holds the workspace now; raises `CommandFailed` where nobody does."""


class ReconnectingOperator:
    """What waits when a runtime is lost fails as with any other operator, and is never sent twice. What is asked later
    looks for a runtime first: at once, then ever more seldom, and every 5 s at last. Until there is one it fails.
    """

    def __init__(self, first: RemoteOperator, dial: Dial, clock: Callable[[], float] = time.monotonic) -> None:
        self.readonly = first.readonly
        self._operator = first
        self._dial = dial
        self._clock = clock
        self._pause = 0.0
        self._next = 0.0
        self._turn = asyncio.Lock()
        self._seen: RuntimeInfo | None = None
        self._is_back = False
        self._notify: Callable[[], None] | None = None

    @property
    def holder(self) -> Holder:
        return self._operator.holder

    async def run(self, command: str, *, on_progress: OnProgress | None = None, **params: Any) -> dict[str, Any]:
        refuse_if_readonly(self, command)
        return await (await self._attached()).run(command, on_progress=on_progress, **params)

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        """Of another runtime than the last one: all of its events, since it counts them from the start."""
        operator = await self._attached()
        snapshot = await operator.snapshot(since)
        another = self._is_back and self._seen is not None and self._seen.since != snapshot.runtime.since
        self._seen, self._is_back = snapshot.runtime, False
        return await operator.snapshot(Cursor(audit=since.audit)) if another else snapshot

    def on_change(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._operator.on_change(notify)

    def cut(self) -> None:
        """Nothing: the calls are another process's."""

    async def close(self) -> None:
        self._next = math.inf  # from now on no runtime is looked for
        await self._operator.close()

    async def _attached(self) -> RemoteOperator:
        """Raises `CommandFailed` where there is no runtime, or it is too soon to look for one."""
        async with self._turn:
            if self._operator.is_lost and self._clock() >= self._next:
                await self._again()
            return self._operator

    async def _again(self) -> None:
        self._pause = min(max(2 * self._pause, _SOONEST_S), _LATEST_S)
        self._next = self._clock() + self._pause
        try:
            operator = await self._dial()
        except CommandFailed:
            return  # what is asked is told by the operator that was lost
        await self._operator.close()
        self._operator, self._pause, self._next, self._is_back = operator, 0.0, 0.0, True
        if self._notify is not None:
            operator.on_change(self._notify)
