"""The operator of a runtime in another process, over its control socket."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import orjson

from evatui.control.commands import is_tied
from evatui.control.failing import CommandFailed
from evatui.control.operator import OnProgress, lost, refuse_if_readonly
from evatui.control.snapshot import ConsoleSnapshot, Cursor
from evatui.control.stream import dial
from evatui.control.wire import MAX_ANSWER, MAX_REQUEST, encode, read
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.finite import is_endless
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.lock import Holder

__all__ = ["RemoteOperator", "connect"]

_CONNECT_S = 5.0
_ANSWER_S = 20.0
"""A process that was stopped, or hangs, takes connections all the same; a busy one says by then that it is there."""


class RemoteOperator:
    """One connection; requests run side by side. A lost connection fails every one that waits."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        actor: Actor,
        holder: Holder,
        *,
        readonly: bool = False,
    ) -> None:
        self.readonly = readonly
        self.holder = holder
        self._writer = writer
        self._actor = actor
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._following: dict[int, OnProgress] = {}
        self._notify: Callable[[], None] | None = None
        self._stopped = False
        self._refused = ""
        self._why = ""
        self._reading = asyncio.get_running_loop().create_task(self._read(reader))

    @property
    def is_lost(self) -> bool:
        return self._reading.done()

    async def greet(self) -> None:
        """Returns once the runtime has said that it is there, or has hung up: whoever asks next is told why."""
        with contextlib.suppress(CommandFailed):
            await self._ask("ping", {}, "")

    async def run(self, command: str, *, on_progress: OnProgress | None = None, **params: Any) -> dict[str, Any]:
        refuse_if_readonly(self, command)
        request_id = params.setdefault("request_id", new_id("req"))
        asked: dict[str, Any] = {"command": command, "arguments": params, "actor": self._actor.to_json()}
        if on_progress is not None:
            asked["progress"] = True
        return dict(await self._ask("run", asked, request_id, on_progress, tied=is_tied(command)))

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        asked = {"events": since.events, "audit": since.audit, "actor": self._actor.to_json()}
        answer = await self._ask("snapshot", asked, "")
        answer["runtime"]["attached"] = True
        snapshot: ConsoleSnapshot = read(ConsoleSnapshot, answer)
        return snapshot

    def on_change(self, notify: Callable[[], None]) -> None:
        self._notify = notify

    def cut(self) -> None:
        """Nothing: the calls are another process's."""

    async def close(self) -> None:
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _ask(
        self,
        method: str,
        params: dict[str, Any],
        request_id: str,
        on_progress: OnProgress | None = None,
        *,
        tied: bool = False,
    ) -> Any:
        if self._reading.done():
            raise self._lost(request_id)
        number = next(self._ids)
        line = _line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        if on_progress is not None:
            self._following[number] = on_progress
        try:
            self._writer.write(line)
            await self._writer.drain()
            reply = await future
        except ConnectionError:
            await asyncio.wait({self._reading})  # what the other side said last is why
            raise self._lost(request_id) from None
        except asyncio.CancelledError:
            if tied and not self._reading.done():
                self._writer.write(_line({"jsonrpc": "2.0", "method": "cancel", "params": {"id": number}}))
            raise
        finally:
            self._waiting.pop(number, None)
            self._following.pop(number, None)
        if "error" in reply:
            raise _failed(reply["error"])
        return reply["result"]

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                message = orjson.loads(line)
                waiting = self._waiting.get(message.get("id"))
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
                else:
                    self._told(message.get("method"), message.get("params"))
        except (ConnectionError, ValueError):
            pass  # what waits is told below
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(ConnectionResetError())
            if self._notify is not None:
                self._notify()

    def _told(self, method: Any, params: Any) -> None:
        match method:
            case "progress":
                self._progressed(params)
            case "stopped":
                self._stopped = True
            case "closing":
                self._why = clean_line(str(params["reason"]), 200)
            case "refused":
                self._refused = clean_line(str(params["reason"]), 200)
            case "changed" if self._notify is not None:
                self._notify()

    def _lost(self, request_id: str) -> CommandFailed:
        if self._refused:
            message = f"pid {self.holder.pid} answers no more operators: {self._refused}"
            return CommandFailed(ErrorKind.UNAVAILABLE, message, retryable=True)
        return lost(request_id, self._why, stopped=self._stopped)

    def _progressed(self, told: dict[str, Any]) -> None:
        on_progress = self._following.get(told["id"])
        if on_progress is not None:
            on_progress(read(Progress, told))


async def connect(holder: Holder, actor: Actor, *, readonly: bool = False) -> RemoteOperator:
    """Attaches to the runtime of ``holder``. Raises `CommandFailed` ``Unavailable`` where nothing answers there."""
    try:
        if holder.address is None:
            raise OSError("the holder does not listen")
        reader, writer = await asyncio.wait_for(dial(holder.address, MAX_ANSWER), _CONNECT_S)
    except (OSError, TimeoutError):
        raise _silent(holder) from None
    if holder.token is not None:
        writer.write(holder.token.encode() + b"\n")
    operator = RemoteOperator(reader, writer, actor, holder, readonly=readonly)
    try:
        async with asyncio.timeout(_ANSWER_S):
            await operator.greet()
    except TimeoutError:
        await operator.close()
        raise _silent(holder) from None
    return operator


def _silent(holder: Holder) -> CommandFailed:
    return CommandFailed(
        ErrorKind.UNAVAILABLE,
        f"pid {holder.pid} holds the workspace, but its control socket does not answer",
        retryable=True,
        suggestion=f"look at pid {holder.pid}; if it hangs, end it and try again",
    )


def _line(message: dict[str, Any]) -> bytes:
    """Raises `CommandFailed` for what JSON cannot carry: half a character, an integer of more than 64 bits, a number
    that is not finite."""
    try:
        line = encode(message)
        if b"null" in line and is_endless(message):
            raise TypeError("a number that is not finite")
    except (TypeError, RecursionError) as problem:
        raise CommandFailed(ErrorKind.INVALID_INPUT, f"that cannot be sent: {clean_line(str(problem), 200)}") from None
    if len(line) > MAX_REQUEST:
        said = f"that has {len(line):,} bytes, and at most {MAX_REQUEST:,} go over the control socket"
        raise CommandFailed(ErrorKind.INPUT_TOO_LARGE, said)
    return line


def _failed(error: dict[str, Any]) -> CommandFailed:
    told = error.get("data") or {}
    return CommandFailed(
        ErrorKind(told.get("kind", ErrorKind.INTERNAL)),
        str(error.get("message", "")),
        retryable=bool(told.get("retryable")),
        suggestion=str(told.get("suggestion", "")),
        context=told.get("context"),
    )
