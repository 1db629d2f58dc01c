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
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic_core import from_json, to_json

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
    going = _Going(asyncio.StreamWriter(transport, drains, None, loop))
    yield _Came(reader, going), going


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


class _Going(_End):
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, item: SessionMessage) -> None:
        """Raises `anyio.BrokenResourceError` where nobody reads any more."""
        await self._write(_line(item.message))

    async def refuse(self, code: int, message: str) -> None:
        """Says of a line that it is no message. Raises as `send`."""
        await self._write(_line(JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))))

    async def _write(self, line: bytes) -> None:
        try:
            self._writer.write(line + b"\n")
            await self._writer.drain()
        except OSError:
            raise anyio.BrokenResourceError from None


class _Came(_End):
    """Messages until the end of input, or a line that is too long. What is no message is answered here: the SDK would
    say nothing, and whoever sent it may wait."""

    def __init__(self, reader: asyncio.StreamReader, going: _Going) -> None:
        self._reader = reader
        self._going = going

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                raise StopAsyncIteration from None
            if not line:
                raise StopAsyncIteration
            if line.isspace():
                continue
            try:
                told = from_json(line, allow_inf_nan=False)
            except ValueError:
                await self._going.refuse(PARSE_ERROR, "Parse error")
                continue
            try:
                return SessionMessage(_message(told))
            except ValueError:
                await self._going.refuse(INVALID_REQUEST, "Invalid request")


def _message(told: Any) -> JSONRPCMessage:
    """Raises `ValueError`. A request of the usual form is seen to be one without the SDK, which would look at all that
    is in it as each of the four kinds of messages."""
    match told:
        case {"jsonrpc": "2.0", "id": int() | str() as id, "method": str() as method, "params": dict() as params} if (
            not isinstance(id, bool)
        ):
            return JSONRPCRequest.model_construct(jsonrpc="2.0", id=id, method=method, params=params)
    message = jsonrpc_message_adapter.validate_python(told, by_name=False)
    if isinstance(message, JSONRPCNotification) and "id" in told:
        raise ValueError("the id is none")  # to the SDK it would be a notification, which is never answered
    return message


def _line(message: JSONRPCMessage) -> bytes:
    if isinstance(message, JSONRPCResponse):
        return to_json({"jsonrpc": "2.0", "id": message.id, "result": message.result})
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
