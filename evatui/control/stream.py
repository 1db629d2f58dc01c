"""Both ends of the control socket read what was sent to them before the connection broke."""

from __future__ import annotations

import asyncio
import contextlib

from evatui.control.wire import MAX_REQUEST

__all__ = ["LastingReader", "dial"]


class LastingReader(asyncio.StreamReader):
    """Ends like a file where asyncio's own raises: whoever writes to a connection that the other side closed loses
    what that side had said last, which is why it closed."""

    _transport_of: asyncio.BaseTransport

    def set_transport(self, transport: asyncio.BaseTransport) -> None:
        super().set_transport(transport)
        self._transport_of = transport

    def set_exception(self, exc: Exception) -> None:
        with contextlib.suppress(OSError), self._transport_of.get_extra_info("socket").dup() as rest:
            while chunk := rest.recv(MAX_REQUEST):
                self.feed_data(chunk)
        self.feed_eof()


async def dial(address: str, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connects to the path of a socket or to ``host:port``. Raises `OSError`."""
    loop = asyncio.get_running_loop()
    reader = LastingReader(limit=limit, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    if "/" in address:
        transport, _ = await loop.create_unix_connection(lambda: protocol, address)
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
    host, _, port = address.rpartition(":")
    transport, _ = await loop.create_connection(lambda: protocol, host, int(port))
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
