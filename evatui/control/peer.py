"""One connection to the control socket: what it asks, and how much of that at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import orjson

from evatui.control.commands import COMMANDS, Command, is_followed
from evatui.control.desk import Desk
from evatui.control.failing import CommandFailed
from evatui.control.outbox import Outbox
from evatui.control.snapshot import Cursor
from evatui.control.wire import MAX_REQUEST
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line

__all__ = ["Peer"]

_MAX_REQUESTS = 64
"""Requests of one connection that run at once; further ones are not even read."""
_MAX_ORDERS = 256
"""Orders of all connections that run at once."""


class Peer:
    """Calls and questions end with the connection; ``orders``, once read, go on to their end without it."""

    def __init__(self, outbox: Outbox, desk: Desk, orders: set[asyncio.Task[None]], awaits: Callable[[], None]) -> None:
        """``awaits`` is called whenever it waits for the next change."""
        self.outbox = outbox
        self.watches = False
        """It has asked for what changes, and so wants to know of it."""
        self.console = ""
        """Who looks at snapshots over it, by their own word; empty where nobody does."""
        self._told = False
        self._desk = desk
        self._awaits = awaits
        self._orders = orders
        self._asked: set[asyncio.Task[None]] = set()
        self._tied: dict[Any, asyncio.Task[None]] = {}
        """Requests that may be given up, by their number."""
        self._room = asyncio.Semaphore(_MAX_REQUESTS)

    async def attend(self, reader: asyncio.StreamReader) -> None:
        """Until one of both hangs up."""
        try:
            while not self.outbox.ended.is_set() and (line := await reader.readline()).endswith(b"\n"):
                await self._room.acquire()
                self._begin(_parsed(line))
        except ValueError:  # of the reader: no end of the line within its limit
            self.outbox.hang_up("closing", f"a request may have {MAX_REQUEST:,} bytes")
        finally:
            for task in self._asked:
                task.cancel()  # nobody is left to hear the answer

    def changed(self) -> None:
        """Tells it once until it asks again."""
        if self.watches and not self._told:
            self._told = True
            self.outbox.post({"method": "changed"})

    def _begin(self, request: dict[str, Any] | None) -> None:
        if request is not None and request.get("method") == "cancel":
            self._give_up(request.get("params"))
            return
        task = asyncio.get_running_loop().create_task(self._answer(request))
        known = _command(request)
        if request is not None and known is not None and known.tied:
            number = _number(request)
            self._tied[number] = task
            task.add_done_callback(lambda _: self._tied.pop(number, None))
        kept = self._orders if _is_order(request) else self._asked
        kept.add(task)
        task.add_done_callback(kept.discard)
        task.add_done_callback(lambda _: self._room.release())

    def _give_up(self, params: Any) -> None:
        """Nobody waits for that answer any more."""
        self._room.release()
        task = self._tied.get(params.get("id")) if isinstance(params, dict) and _number(params) is not None else None
        if task is not None:
            task.cancel()

    async def _answer(self, request: dict[str, Any] | None) -> None:
        if request is None:
            answer: dict[str, Any] = {"id": None, "error": {"code": -32700, "message": "not a line of JSON"}}
        elif not isinstance(request.get("params") or {}, dict) or not isinstance(request.get("method"), str):
            answer = {"id": _number(request), "error": {"code": -32600, "message": "not a JSON-RPC request"}}
        else:
            answer = {"id": _number(request), **await self._handle(request)}
        await self.outbox.send(answer)

    async def _handle(self, request: Mapping[str, Any]) -> dict[str, Any]:
        method, params = request["method"], request.get("params") or {}
        try:
            if method == "ping":
                return {"result": {}}
            if method == "snapshot":
                cursor = Cursor(int(params.get("events", 0)), int(params.get("audit", 0)))
                self.console = _actor(params).id or "somebody"
                self._watch()  # only who is answered: others expect no notice
                return {"result": self._desk.snapshot(cursor)}
            if method == "run":
                return {"result": await self._run(request, params)}
            return {"error": {"code": -32601, "message": f"no method {clean_line(method, 64)}"}}
        except CommandFailed as failed:
            return {"error": {"code": -32000, "message": failed.message, "data": failed.to_json()}}
        except (KeyError, TypeError, ValueError, OverflowError):
            return {"error": {"code": -32602, "message": "missing or unfit parameters"}}

    async def _run(self, request: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
        command, arguments, actor = str(params["command"]), dict(params.get("arguments") or {}), _actor(params)
        if _is_order(request) and len(self._orders) > _MAX_ORDERS:
            message = f"{_MAX_ORDERS} orders run already"
            raise CommandFailed(ErrorKind.CONCURRENCY_LIMITED, message, retryable=True)
        if is_followed(command):
            self._watch()
        told = partial(self._progressed, _number(request)) if params.get("progress") is True else None
        return await self._desk.run(command, arguments, actor, told, self)

    def _watch(self) -> None:
        self.watches, self._told = True, False
        self._awaits()

    def _progressed(self, request: Any, progress: Progress) -> None:
        self.outbox.post({"method": "progress", "params": {"id": request, **progress.to_json()}})


def _parsed(line: bytes) -> dict[str, Any] | None:
    """None for what is no JSON; an empty object, which is no request, for what is no object."""
    try:
        request = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return request if isinstance(request, dict) else {}


def _command(request: Mapping[str, Any] | None) -> Command | None:
    params = (request or {}).get("params")
    name = params.get("command") if isinstance(params, dict) else None
    return COMMANDS.get(name) if isinstance(name, str) else None


def _is_order(request: Mapping[str, Any] | None) -> bool:
    known = _command(request)
    return known is not None and known.order


def _number(request: Mapping[str, Any]) -> Any:
    """What JSON-RPC allows as an id is sent back as it came."""
    given = request.get("id")
    return given if isinstance(given, str | int | float) else None


def _actor(params: Mapping[str, Any]) -> Actor:
    """Who asks, by its own word: whoever holds the socket could do anything anyway."""
    told = params.get("actor") or {}
    if not isinstance(told, Mapping):
        raise TypeError("an actor is a mapping")
    kind = told.get("type")
    allowed = {CallerType.USER.value, CallerType.CLI.value, CallerType.MCP.value}
    return Actor(CallerType(kind) if kind in allowed else CallerType.CLI, clean_line(str(told.get("id", "")), 64))
