"""Standard input and output as the wire, and as nothing else any more.

The SDK's own way through them is kept for what is no pipe. It hands every line to a thread and back, twice, which takes
as long as all the rest of a call; and it takes lines of any length.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

from mcp.server.stdio import stdio_server

__all__ = ["MAX_LINE", "wire"]

MAX_LINE = 4 << 20
"""Bytes of a message; a longer one ends the connection."""


async def wire() -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """The two streams of a server, once entered. From now on whatever else is read or written goes elsewhere: input is
    empty, and output goes to standard error until the process ends."""
    one = os.path.samestat(os.fstat(0), os.fstat(1))  # a socket that is both would seem closed once it can be read
    if one or not (_is_pipe(0) and _is_pipe(1)) or sys.platform == "win32":
        return stdio_server()
    incoming, outgoing = os.dup(0), os.dup(1)
    _divert()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(MAX_LINE)
    protocol = asyncio.StreamReaderProtocol(reader)
    await loop.connect_read_pipe(lambda: protocol, os.fdopen(incoming, "rb", 0))
    transport, drains = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(outgoing, "wb", 0)
    )
    writer = asyncio.StreamWriter(transport, drains, None, loop)
    return stdio_server(cast(Any, _Lines(reader)), cast(Any, _Out(writer)))


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


class _Lines:
    """Until the end of input, or of a line that is too long."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                return
            if not line:
                return
            yield line


class _Out:
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())
        await self._writer.drain()

    async def flush(self) -> None:
        """Nothing is held back."""
