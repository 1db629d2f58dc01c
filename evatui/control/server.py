"""The control socket: JSON-RPC 2.0, one message a line, for operators in other processes.

Whoever may open the socket may operate the runtime: it lies in a folder of mode 0700, has mode 0600
itself, and where only loopback TCP is to be had, a token of the lock file must come first.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from evatui.control.desk import Desk
from evatui.control.operator import CommandFailed
from evatui.control.snapshot import Cursor
from evatui.control.wire import MAX_LINE, encode
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line

__all__ = ["Server"]

_SOCKET = "control.sock"
_MAX_UNIX_PATH = 100
"""Bytes: the kernel's limit is 104 to 108, by platform."""
_MAX_REQUESTS = 64
"""Requests of one connection that run at once."""


class Server:
    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._desk: Desk | None = None
        self._ready = asyncio.Event()
        self._token: str | None = None
        self._path: Path | None = None
        self._made: tuple[int, int] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._peers: set[asyncio.Task[None]] = set()
        self._commands: set[asyncio.Task[None]] = set()
        self._watchers: set[_Peer] = set()
        self._telling = False

    async def listen(self, state_dir: Path) -> tuple[str, str | None]:
        """Returns the address and the token that it asks for (None on a Unix socket)."""
        self._loop = asyncio.get_running_loop()
        if self._server is not None:
            self._server.close()
        for path in _unix_places(state_dir):
            with contextlib.suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                old = os.umask(0o177)
                try:
                    self._server = await asyncio.start_unix_server(self._accept, path, limit=MAX_LINE)
                finally:
                    os.umask(old)
                self._path, self._made = path, _identity(path)
                return str(path), None
        self._token = secrets.token_hex(32)
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_LINE)
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}", self._token

    def reachable(self) -> bool:
        """Does the address still lead here? Blocking."""
        return self._path is None or _identity(self._path) == self._made

    def serve(self, desk: Desk) -> None:
        """From now on requests are answered; those that came before have waited."""
        self._desk = desk
        self._ready.set()

    async def stop_accepting(self) -> None:
        if self._server is not None:
            self._server.close()
        if self._path is not None and self.reachable():
            self._path.unlink(missing_ok=True)  # another one in its place is that of another runtime

    async def close(self) -> None:
        """Says goodbye to whoever watches, and hangs up."""
        for peer in self._watchers:
            peer.writer.write(encode({"jsonrpc": "2.0", "method": "stopped"}))
        open_tasks = (*self._commands, *self._peers)
        for task in open_tasks:
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)
        await asyncio.sleep(0)  # connections that were closed end in the next turn of the loop, which may be the last

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._attend(reader, writer))
        self._peers.add(task)
        task.add_done_callback(self._peers.discard)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = _Peer(writer)
        try:
            await self._ready.wait()
            if await self._is_admitted(reader):
                await self._listen_to(peer, reader)
        except (ValueError, ConnectionError):
            pass  # an overlong line or a peer that is gone: both end the connection
        finally:
            self._watchers.discard(peer)
            for call in peer.calls:
                call.cancel()  # nobody is left to hear the answer; commands go on to their end
            writer.close()

    async def _is_admitted(self, reader: asyncio.StreamReader) -> bool:
        if self._token is None:
            return True
        return hmac.compare_digest((await reader.readline()).strip(), self._token.encode())

    async def _listen_to(self, peer: _Peer, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            await peer.room.acquire()
            request = _parsed(line)
            task = asyncio.get_running_loop().create_task(self._answer(request, peer))
            kept = peer.calls if _is_call(request) else self._commands
            kept.add(task)
            task.add_done_callback(kept.discard)
            task.add_done_callback(lambda _: peer.room.release())

    async def _answer(self, request: dict[str, Any] | None, peer: _Peer) -> None:
        if request is None:
            reply: dict[str, Any] = {"id": None, "error": {"code": -32600, "message": "not a JSON-RPC request"}}
        else:
            reply = {"id": request.get("id"), **await self._handle(request, peer)}
        await peer.send({"jsonrpc": "2.0", **reply})

    async def _handle(self, request: Mapping[str, Any], peer: _Peer) -> dict[str, Any]:
        assert self._desk is not None  # serve() set it before the first request is read
        method, params = str(request.get("method")), request.get("params") or {}
        try:
            if method == "snapshot":
                self._watchers.add(peer)
                peer.told = False
                cursor = Cursor(int(params.get("events", 0)), int(params.get("audit", 0)))
                return {"result": self._desk.snapshot(cursor)}
            if method == "run":
                arguments = dict(params.get("arguments") or {})
                told = partial(peer.tell_progress, request.get("id")) if params.get("progress") is True else None
                return {"result": await self._desk.run(str(params["command"]), arguments, _actor(params), told)}
            return {"error": {"code": -32601, "message": f"no method {clean_line(method, 64)}"}}
        except CommandFailed as failed:
            return {"error": {"code": -32000, "message": failed.message, "data": failed.to_json()}}
        except (KeyError, TypeError, ValueError):
            return {"error": {"code": -32602, "message": "missing or unfit parameters"}}

    def changed(self) -> None:
        """Tells every peer that has asked for a snapshot, at most once until it asks for the next."""
        loop = self._loop
        if loop is not None and self._watchers and not self._telling:
            self._telling = True
            loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        self._telling = False
        for peer in self._watchers:
            if not peer.told:
                peer.told = True
                peer.writer.write(encode({"jsonrpc": "2.0", "method": "changed"}))


class _Peer:
    """One connection: its calls end with it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.calls: set[asyncio.Task[None]] = set()
        self.room = asyncio.Semaphore(_MAX_REQUESTS)
        self.told = False

    def tell_progress(self, request: Any, progress: Progress) -> None:
        """``request`` is the number of the JSON-RPC request whose call it is."""
        params = {"id": request, **progress.to_json()}
        self.writer.write(encode({"jsonrpc": "2.0", "method": "progress", "params": params}))

    async def send(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(ConnectionError):
            self.writer.write(encode(message))
            await self.writer.drain()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        request = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return request if isinstance(request, dict) and isinstance(request.get("params") or {}, dict) else None


def _is_call(request: dict[str, Any] | None) -> bool:
    return request is not None and (request.get("params") or {}).get("command") == "capability.call"


def _actor(params: Mapping[str, Any]) -> Actor:
    """Who asks, by its own word: whoever holds the socket could do anything anyway."""
    told = params.get("actor") or {}
    if not isinstance(told, Mapping):
        raise TypeError("an actor is a mapping")
    kind = told.get("type")
    allowed = {CallerType.USER.value, CallerType.CLI.value, CallerType.MCP.value}
    return Actor(CallerType(kind) if kind in allowed else CallerType.CLI, clean_line(str(told.get("id", "")), 64))


def _unix_places(state_dir: Path) -> list[Path]:
    """The state directory where its path is short enough, else a private runtime directory."""
    if not hasattr(asyncio, "start_unix_server"):
        return []
    name = hashlib.sha256(os.fsencode(state_dir)).hexdigest()[:16]
    places = [state_dir / _SOCKET]
    if runtime_dir := os.environ.get("XDG_RUNTIME_DIR"):
        places.append(Path(runtime_dir) / "evatui" / f"{name}.sock")
    return [path for path in places if len(os.fsencode(path)) <= _MAX_UNIX_PATH]
