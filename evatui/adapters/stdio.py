"""The transport ``stdio``: a program that answers JSON-RPC, a line each way for each message.

``invoke {capability, payload, request_id, trace_id, deadline_ms}`` is answered with ``{ok, result}`` or ``{ok,
error}``; meanwhile ``stream {id, data}`` may bring pieces, which are the result where that says none. ``cancel {id}``
tells that nobody waits any more. ``health {}`` is answered with ``{ok}``.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from evatui.adapters.answers import hidden, refusal, result_of
from evatui.adapters.backoff import Backoff
from evatui.adapters.running import LineTooLong, Running
from evatui.kernel.host.credentials import Credential
from evatui.kernel.host.ports import Invocation, NotSent, Setting, WayState
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import ServerInfo

__all__ = ["Stdio"]

_START_S: Final = 10.0
_MAX_JUNK: Final = 100
"""Lines in a row that are no message."""
_MAX_UNASKED: Final = 10_000
"""Messages in a row that nobody waits for: late answers are some, a flood would take the time of everybody's calls."""


@dataclass(slots=True)
class _Open:
    """A request that waits for its answer; ``room`` is how many bytes its pieces may have yet."""

    answer: asyncio.Future[Any]
    room: int
    pieces: list[Any] = field(default_factory=list)


class Stdio:
    """Started at the first call, or by `start`; one that ended is started again by the next call, later and later."""

    server: ServerInfo | None = None

    def __init__(self, adapter: Adapter, setting: Setting) -> None:
        self._adapter = adapter
        self._setting = setting
        self._running: Running | None = None
        self._reading: asyncio.Task[None] | None = None
        self._waiting: dict[int, _Open] = {}
        self._ids = itertools.count(1)
        self._turn = asyncio.Lock()
        self._state = WayState()
        self._secrets: list[Credential] = []
        self._backoff = Backoff()
        self._closed = False

    @property
    def state(self) -> WayState:
        rested = self._state.word == "down" and not self._backoff.left_s
        return WayState("idle", self._state.detail) if rested else self._state

    def target(self, invocation: Invocation) -> str:
        return clean_line(f"{self._adapter.block['command'][0]} {invocation.capability}", 512)

    async def probe(self) -> None:
        await self._started()

    def adjust(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def start(self) -> None:
        """It costs a process, so the first call starts it."""

    async def invoke(self, invocation: Invocation) -> Any:
        running = await self._started()
        params = {
            "capability": invocation.capability,
            "payload": invocation.payload,
            "request_id": invocation.request_id,
            "trace_id": invocation.trace_id,
            "deadline_ms": max(0, int(invocation.left_s * 1000)),
        }
        answer = await self._asked(running, "invoke", params, invocation.limit)
        return await asyncio.to_thread(hidden, result_of(answer, self._adapter.id), self._secrets)

    async def _asked(self, running: Running, method: str, params: Mapping[str, Any], limit: int) -> Any:
        number = next(self._ids)
        line = orjson.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        waiting = self._waiting[number] = _Open(asyncio.get_running_loop().create_future(), limit)
        try:
            await running.write(line)
            answer = await waiting.answer
        except ConnectionError as error:
            raise failure(ErrorKind.UNAVAILABLE, str(error), retryable=True) from None
        except asyncio.CancelledError:
            await self._give_up(running, number)
            raise
        finally:
            del self._waiting[number]
        if waiting.pieces and isinstance(answer, dict) and answer.get("ok") is True and "result" not in answer:
            return {**answer, "result": waiting.pieces}
        return answer

    async def _give_up(self, running: Running, number: int) -> None:
        line = orjson.dumps({"jsonrpc": "2.0", "method": "cancel", "params": {"id": number}})
        try:
            async with asyncio.timeout(1):
                await running.write(line)
        except (ConnectionError, TimeoutError):
            return  # it hears nothing any more

    # -- its life ------------------------------------------------------------------------------

    async def _started(self) -> Running:
        async with self._turn:
            if self._closed:
                raise NotSent(ErrorKind.UNAVAILABLE, f"{self._adapter.id} leaves service")
            if self._running is not None:
                return self._running
            left = self._backoff.left_s
            if left > 0:
                message = f"{self._adapter.id} is down: {self._state.detail}; it is started again in {left:.1f} s"
                raise NotSent(ErrorKind.UNAVAILABLE, message)
            return await self._start()

    async def _start(self) -> Running:
        block = self._adapter.block
        self._state = WayState("starting")
        try:
            self._secrets = [self._setting.key(name) for name in block["env"]]
            environ = {secret.name: secret.value for secret in self._secrets}
            root: Path = self._setting.root
            folder = root / block["cwd"] if block["cwd"] else root
            running = await Running.start(tuple(block["command"]), folder, environ, root)
        except CallFailed as failed:
            self._down(failed.error.message)
            raise NotSent(
                failed.error.kind, failed.error.message, retryable=failed.error.retryable, **failed.error.details
            ) from None
        self._running = running
        self._reading = asyncio.get_running_loop().create_task(self._read(running))
        try:
            async with asyncio.timeout(_START_S):
                await self._asked(running, "health", {}, 1_024)
        except TimeoutError:
            await self._lost(running, f"it has not answered health within {_START_S:.0f} s")
            raise NotSent(ErrorKind.UNAVAILABLE, f"{self._adapter.id} is down: {self._state.detail}") from None
        except CallFailed:
            raise NotSent(ErrorKind.UNAVAILABLE, f"{self._adapter.id} is down: {self._state.detail}") from None
        self._backoff.reset()
        self._state = WayState("up")
        return running

    async def _read(self, running: Running) -> None:
        junk = unasked = 0
        try:
            while (line := await running.read()) is not None:
                try:
                    unasked = 0 if self._take(line) else unasked + 1
                    junk = 0
                except ValueError:
                    junk += 1
                if junk > _MAX_JUNK:
                    raise LineTooLong(f"{running.name} wrote more than {_MAX_JUNK} lines that are no messages")
                if unasked > _MAX_UNASKED:
                    raise LineTooLong(f"{running.name} wrote more than {_MAX_UNASKED:,} lines that nobody waited for")
            why = await running.why_it_ended()
        except LineTooLong as problem:
            why = str(problem)
        self._reading = None
        await self._lost(running, why)

    def _take(self, line: bytes) -> bool:
        """Did anybody wait for it? Raises `ValueError` for what is no message."""
        message = orjson.loads(line)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise ValueError("no message")
        if message.get("method") == "stream":
            return self._take_piece(message.get("params"), len(line))
        waiting = self._waiting.get(message["id"]) if isinstance(message.get("id"), int) else None
        if waiting is None or waiting.answer.done():
            return False
        if "error" in message:
            error = message["error"] if isinstance(message["error"], dict) else {}
            told = error.get("data") if isinstance(error.get("data"), dict) else {}
            waiting.answer.set_exception(refusal({"message": error.get("message"), **(told or {})}, self._adapter.id))
        else:
            waiting.answer.set_result(message.get("result"))
        return True

    def _take_piece(self, params: Any, size: int) -> bool:
        number = params.get("id") if isinstance(params, dict) else None
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is None or waiting.answer.done():
            return False
        waiting.room -= size
        if waiting.room < 0:
            message = f"the pieces of the answer of {self._adapter.id} are too large together"
            waiting.answer.set_exception(failure(ErrorKind.OUTPUT_TOO_LARGE, message))
        else:
            waiting.pieces.append(params.get("data"))
        return True

    async def _lost(self, running: Running, why: str) -> None:
        """Whoever waits hears of it at once."""
        if self._running is running:
            self._running = None
            self._down(why)
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(failure(ErrorKind.UNAVAILABLE, f"{self._adapter.id} is gone: {why}"))
        await running.close()

    def _down(self, why: str) -> None:
        self._state = WayState("down", clean_line(why, 400))
        self._backoff.failed()

    async def close(self) -> None:
        self._closed = True
        reading, running = self._reading, self._running
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        if running is not None:
            await self._lost(running, "it leaves service")
