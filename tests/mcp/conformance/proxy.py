"""A way to the server for a harness that knows no tokens: each request gets one, and is otherwise passed on as it is.

The proxy's own name and origin stand for those that the server lets in.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future

from tests.mcp.house import ORIGIN

__all__ = ["with_token"]

_HEAD = 1 << 16


@contextlib.contextmanager
def with_token(server: str, token: str) -> Iterator[str]:
    """``HOST:PORT`` that leads to ``server``, which is of the same form."""
    loop, started = asyncio.new_event_loop(), Future[str]()

    async def serve() -> None:
        async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError, RuntimeError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await _pass_on(reader, writer, server, token)
            writer.close()

        listening = await asyncio.start_server(attend, "127.0.0.1", 0, limit=_HEAD)
        host, port = listening.sockets[0].getsockname()[:2]
        started.set_result(f"{host}:{port}")

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(serve(), loop)
    try:
        yield started.result(10)
    finally:
        asyncio.run_coroutine_threadsafe(_end(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end() -> None:
    """Nobody asks any more: what is on its way is given up."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: str, token: str) -> None:
    """One request a connection, so that nothing but the head needs to be understood."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    port = writer.get_extra_info("sockname")[1]
    meant = {}
    for name in ("127.0.0.1", "localhost"):
        meant |= {f"host: {name}:{port}": f"Host: {server}", f"origin: http://{name}:{port}": f"Origin: {ORIGIN}"}
    kept = [line for line in head[1:] if line.split(":")[0].lower() not in ("connection", "authorization")]
    named = [meant.get(line.lower(), line) for line in kept]
    lines = [head[0], *named, "Connection: close", f"Authorization: Bearer {token}", "", ""]
    answers, asks = await asyncio.open_connection(*server.split(":"))
    asks.write("\r\n".join(lines).encode("latin-1"))
    sending = asyncio.create_task(_pump(reader, asks))
    try:
        await _pump(answers, writer)
    finally:
        sending.cancel()
        asks.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while chunk := await source.read(_HEAD):
        sink.write(chunk)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()
