"""A real HTTP server on loopback that answers as a test tells it, and keeps what it was sent; and how to ask it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.permissions import Network, Permissions
from tests.host.ground import Ground

__all__ = ["Received", "Server", "answer", "get", "network", "refused", "serving"]


@dataclass(frozen=True)
class Received:
    line: str
    headers: dict[str, str]
    body: str


Answer = Callable[[Received], bytes]


def answer(body: str | bytes = "", status: str = "200 OK", **headers: str) -> bytes:
    """The bytes of an answer; ``_`` in the name of a header stands for ``-``."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", *lines, "", ""]).encode() + data


@dataclass
class Server:
    """``say`` makes the answer from the request; with None the server never answers, and ``drip`` writes one without
    end, byte by byte. ``left`` counts the clients that hung up on it."""

    port: int = 0
    say: Answer | None = lambda _: answer("hello")
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    drip: bytes = b""
    drip_head: bytes = b"HTTP/1.1 200 OK\r\n\r\n"
    left: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            kept = dict(line.split(": ", 1) for line in head[1:] if line)
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.received.append(
                Received(head[0], {name.lower(): value for name, value in kept.items()}, body.decode())
            )
            if self.drip:
                await self._drip(reader, writer)
            elif self.say is None:
                await reader.read()
                self.left += 1
            else:
                writer.write(self.say(self.received[-1]))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _drip(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self.drip_head)
        gone = asyncio.ensure_future(reader.read())
        while not gone.done():
            writer.write(self.drip)
            await asyncio.wait([gone], timeout=0.002)
        self.left += 1


@asynccontextmanager
async def serving(trust: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.meet, "127.0.0.1", 0, ssl=trust)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield server


def network(*hosts: str, methods: tuple[str, ...] = ("*",), env: tuple[str, ...] = ()) -> Permissions:
    return Permissions(network=Network(hosts, methods), env=env)


async def get(ground: Ground, url: str, **more: Any) -> Any:
    return await ground.ask("http_request", {"url": url, **more})


async def refused(ground: Ground, url: str, **more: Any) -> tuple[ErrorKind, str]:
    return await ground.refusal("http_request", {"url": url, **more})
