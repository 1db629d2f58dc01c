"""The base of the call measurements: lupa as a plain program would use it, behind the same thread hand-off."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import Any

import lupa.lua54 as lua54

__all__ = ["BareLua"]


def _to_python(value: Any) -> Any:
    if lua54.lua_type(value) != "table":
        return value
    if len(value):
        return [_to_python(item) for item in value.values()]
    return {key: _to_python(item) for key, item in value.items()}


class BareLua:
    """No sandbox, no limits, no schemas: one state in one thread."""

    def __init__(self, source: str) -> None:
        self._lua = lua54.LuaRuntime()
        self._lua.execute(source)
        self._invoke = self._lua.globals().invoke
        self._jobs: queue.SimpleQueue[tuple[Any, asyncio.Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    async def call(self, request: Any) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put((request, answer))
        return await answer

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            request, answer = job
            result = _to_python(self._invoke(None, self._lua.table_from(request, recursive=True)))
            answer.get_loop().call_soon_threadsafe(answer.set_result, result)
