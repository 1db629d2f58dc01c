"""The control socket: JSON-RPC 2.0, one message a line, for operators in other processes.

Whoever may open the socket may operate the runtime: it lies in a folder of mode 0700, has mode 0600
itself, and answers only this user and root; where only loopback TCP is to be had, a token of the
lock file must come first.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from evatui.control.credentials import is_admitted, is_private
from evatui.control.desk import Desk
from evatui.control.outbox import Outbox
from evatui.control.peer import Peer
from evatui.control.stream import LastingReader
from evatui.control.wire import MAX_REQUEST

__all__ = ["Server"]

_SOCKET = "control.sock"
_MAX_UNIX_PATH = 100
"""Bytes: the kernel's limit is 104 to 108, by platform."""
_MAX_PEERS = 64
_TOKEN_WITHIN_S = 10.0


class Server:
    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._desk: Desk | None = None
        self._ready = asyncio.Event()
        self._token: str | None = None
        self._path: Path | None = None
        self._made: tuple[int, int] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._orders: set[asyncio.Task[None]] = set()
        self._peers: set[Peer] = set()
        self._awaited = False
        """Does any peer want to be told of the next change? Most changes come to nobody, and need not wake the loop."""
        self._ends = False

    async def listen(self, state_dir: Path) -> tuple[str, str | None]:
        """Returns the address and the token that it asks for (None on a Unix socket)."""
        self._loop = asyncio.get_running_loop()
        if self._server is not None:
            self._server.close()
        for path in _unix_places(state_dir):
            with contextlib.suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                if path.parent != state_dir and not is_private(path.parent):
                    continue
                path.unlink(missing_ok=True)
                old = os.umask(0o177)
                try:
                    self._server = await self._loop.create_unix_server(self._connection, path)
                finally:
                    os.umask(old)
                self._path, self._made = path, _identity(path)
                return str(path), None
        self._token = secrets.token_hex(32)
        self._server = await self._loop.create_server(self._connection, "127.0.0.1", 0)
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
        self._ends = True
        if self._server is not None:
            with contextlib.suppress(NotImplementedError):  # no selector, as on Windows
                for listening in self._server.sockets:
                    asyncio.get_running_loop().remove_reader(listening.fileno())
            await asyncio.sleep(0)  # what was accepted in this turn needs the server to be there: it would be forgotten
            self._server.close()
        if self._path is not None and self.reachable():
            self._path.unlink(missing_ok=True)  # another one in its place is that of another runtime

    async def close(self) -> None:
        """Says goodbye to whoever watches, and hangs up."""
        await asyncio.sleep(0)  # whoever came last is attended to by now, and so is not forgotten
        for peer in self._peers:
            if peer.watches:
                peer.outbox.post({"method": "stopped"})
        open_tasks = (*self._orders, *self._connections)
        for task in open_tasks:
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)
        await asyncio.sleep(0)  # connections that were closed end in the next turn of the loop, which may be the last

    @property
    def attended(self) -> bool:
        """Is anybody attached?"""
        return bool(self._peers)

    def consoles(self) -> tuple[str, ...]:
        """Who looks at the runtime from another process."""
        return tuple(sorted(peer.console for peer in self._peers if peer.console))

    def changed(self) -> None:
        """Tells every peer that has asked for what changes, at most once until it asks again."""
        loop = self._loop
        if loop is not None and self._awaited:
            self._awaited = False
            loop.call_soon_threadsafe(self._tell)

    def _await(self) -> None:
        self._awaited = True

    def _tell(self) -> None:
        for peer in self._peers:
            peer.changed()

    def _connection(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(LastingReader(limit=MAX_REQUEST), self._accept)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        outbox = Outbox(writer)
        if refusal := self._refusal(writer):
            outbox.hang_up("refused", refusal)
            return
        task = asyncio.get_running_loop().create_task(self._attend(reader, outbox))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    def _refusal(self, writer: asyncio.StreamWriter) -> str:
        if self._token is None and not is_admitted(writer.get_extra_info("socket")):
            return "it belongs to another user"
        if self._ends:
            return "it ends"
        return f"{_MAX_PEERS} operators are attached already" if len(self._connections) >= _MAX_PEERS else ""

    async def _attend(self, reader: asyncio.StreamReader, outbox: Outbox) -> None:
        peer: Peer | None = None
        try:
            await self._ready.wait()
            assert self._desk is not None  # serve() has set both
            if await self._knows_the_token(reader):
                peer = Peer(outbox, self._desk, self._orders, self._await)
                self._peers.add(peer)
                await peer.attend(reader)
        finally:
            if peer is not None and self._desk is not None:
                self._peers.discard(peer)
                self._desk.left(peer)
                if outbox.why:
                    self._desk.dropped(outbox.why)
            outbox.close()

    async def _knows_the_token(self, reader: asyncio.StreamReader) -> bool:
        if self._token is None:
            return True
        try:
            async with asyncio.timeout(_TOKEN_WITHIN_S):
                told = await reader.readexactly(len(self._token) + 1)
        except (TimeoutError, asyncio.IncompleteReadError):
            return False
        return hmac.compare_digest(told.strip(), self._token.encode())


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _unix_places(state_dir: Path) -> list[Path]:
    """The state directory where its path is short enough, else a private runtime directory."""
    if not hasattr(asyncio, "start_unix_server"):
        return []
    name = hashlib.sha256(os.fsencode(state_dir)).hexdigest()[:16]
    places = [state_dir / _SOCKET]
    if runtime_dir := os.environ.get("XDG_RUNTIME_DIR"):
        places.append(Path(runtime_dir) / "evatui" / f"{name}.sock")
    return [path for path in places if len(os.fsencode(path)) <= _MAX_UNIX_PATH]
