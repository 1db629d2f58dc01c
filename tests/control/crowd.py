"""Operators that are attached beside the one of a test, and look at whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.call import Actor, CallerType

__all__ = ["ANN", "opened", "watchers"]

ANN = Actor(CallerType.USER, "ann")


async def opened(root: Path, mode: OpenMode, *, readonly: bool = False) -> Operator:
    return await open_workspace(root, state_dir=None, mode=mode, actor=ANN, readonly=readonly)


@contextlib.asynccontextmanager
async def watchers(root: Path, count: int) -> AsyncIterator[None]:
    """While it is entered, ``count`` operators take each snapshot that there is, and ask for the state."""
    async with contextlib.AsyncExitStack() as stack:
        tasks = []
        for number in range(count):
            actor = Actor(CallerType.USER, f"watcher {number}")
            operator = await open_workspace(root, state_dir=None, mode=OpenMode.ATTACH, actor=actor)
            stack.push_async_callback(operator.close)
            tasks.append(asyncio.create_task(_watch(operator)))
        yield
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, asyncio.CancelledError):
                raise ended


async def _watch(operator: Operator) -> None:
    changed = asyncio.Event()
    operator.on_change(changed.set)
    cursor, seen = Cursor(), 0
    while True:
        changed.clear()
        try:
            snapshot = await operator.snapshot(cursor)
            await operator.run("capability.list")
        except CommandFailed as failed:
            if failed.context.get("stopped"):
                return
            raise
        numbers = [event.seq for event in snapshot.events]
        assert not numbers or not seen or numbers == list(range(seen + 1, seen + 1 + len(numbers)))
        cursor, seen = snapshot.cursor, numbers[-1] if numbers else seen
        await changed.wait()
