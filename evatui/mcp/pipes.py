"""Standard input and output as the wire, and as nothing else any more.

The SDK's own way through them is kept for what is no pipe. It hands every line to a thread and back, twice, and on
through two tasks more, which takes as long as all the rest of a call; and it takes lines of any length.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Self

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

__all__ = ["MAX_LINE", "wire"]

MAX_LINE = 4 << 20
"""Bytes of a message; a longer one ends the connection."""


def wire() -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """The two streams of a server, once entered. From then on whatever else is read or written goes elsewhere: input is
    empty, and output goes to standard error until the process ends."""
    one = os.path.samestat(os.fstat(0), os.fstat(1))  # a socket that is both would seem closed once it can be read
    if one or not (_is_pipe(0) and _is_pipe(1)) or sys.platform == "win32":
        return stdio_server()
    return _piped()


@asynccontextmanager
async def _piped() -> AsyncIterator[tuple[_Came, _Going]]:
    incoming, outgoing = os.dup(0), os.dup(1)
    _divert()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(MAX_LINE)
    protocol = asyncio.StreamReaderProtocol(reader)
    await loop.connect_read_pipe(lambda: protocol, os.fdopen(incoming, "rb", 0))
    transport, drains = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(outgoing, "wb", 0)
    )
    yield _Came(reader), _Going(asyncio.StreamWriter(transport, drains, None, loop))


def _is_pipe(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _divert() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)


class _End:
    """Of the wire, which stays open as long as the process: there is nothing to close."""

    async def aclose(self) -> None:
        """Nothing."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Nothing."""


class _Came(_End):
    """Messages, and in their place the errors of what is none, until the end of input or a line that is too long."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            line = await self._reader.readline()
        except ValueError:
            raise StopAsyncIteration from None
        if not line:
            raise StopAsyncIteration
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError as problem:
            return problem


class _Going(_End):
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, item: SessionMessage) -> None:
        """Raises `anyio.BrokenResourceError` where nobody reads any more."""
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        try:
            self._writer.write(line + b"\n")
            await self._writer.drain()
        except OSError:
            raise anyio.BrokenResourceError from None
