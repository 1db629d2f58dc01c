"""MCP over standard input and output, for a client that starts us: a thin bridge to the runtime of the workspace."""

from __future__ import annotations

import asyncio
import gc
import os
import select
import signal
import sys
import threading
from pathlib import Path

import anyio

from evatui.control.failing import CommandFailed
from evatui.control.opening import operator_actor
from evatui.kernel.model.call import CallerType
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import new_id
from evatui.mcp.asking import Client
from evatui.mcp.attached import Attached

__all__ = ["serve_stdio"]


def serve_stdio(root: Path, state_dir: Path | None) -> int:
    """Until the client closes its end, or is gone. Returns the exit code; raises `CommandFailed` where no runtime is to
    be had.

    Standard output belongs to the protocol, and to nothing else until the process ends.
    """
    if sys.stdin is None or sys.stdout is None:  # as the shell's `<&-` leaves them
        message = "standard input and output are the way to the client, and one of them is closed"
        raise CommandFailed(ErrorKind.INVALID_INPUT, message)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing here is worth a last word
    try:
        asyncio.run(_serve(root, state_dir))
    except BaseExceptionGroup as ended:
        rest = ended.split((OSError, anyio.BrokenResourceError, anyio.ClosedResourceError))[1]
        if rest is not None:
            raise rest from None
    return 0


async def _serve(root: Path, state_dir: Path | None) -> None:
    attached = Attached(root, state_dir, operator_actor(CallerType.MCP))
    attaching = asyncio.create_task(attached.attach())
    await asyncio.to_thread(_load)
    await attaching
    try:
        await _bridge(attached)
    finally:
        await attached.close()


def _load() -> None:
    """The SDK takes most of a second, in which a runtime can start."""
    import evatui.mcp.server  # noqa: F401

    gc.freeze()  # what was just loaded stays, and need not be looked through again and again


def _end_with_reader(wire: int) -> None:
    """Ends the process once nobody reads what it writes: by then nothing can be said, and input may never end."""
    if not hasattr(select, "poll"):
        return

    def watch() -> None:
        poll = select.poll()
        poll.register(wire, 0)  # an error is told unasked
        poll.poll()
        os._exit(0)

    threading.Thread(target=watch, name="eva-mcp-wire", daemon=True).start()


async def _bridge(attached: Attached) -> None:
    from evatui.mcp.pipes import wire
    from evatui.mcp.server import Context, ToolServer

    session = new_id("mcp")

    def who(ctx: Context) -> Client:
        told = ctx.session.client_params
        name = f"{told.client_info.name} {told.client_info.version}" if told is not None else ""
        return Client(None, {"id": session, "transport": "stdio", "client": name, "protocol": ctx.protocol_version})

    _end_with_reader(os.dup(sys.stdout.fileno()))
    async with wire() as (incoming, outgoing):
        sys.stdout = sys.stderr  # what is printed and not flushed would go out after the last message
        server = ToolServer(attached, who)
        async with server.watching():
            await server.run(incoming, outgoing, server.create_initialization_options())
            server.changes.close()
