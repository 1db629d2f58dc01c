"""MCP over the pipes of a program: a line has a limit, junk is passed over up to one, and how it ended is known."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final

import orjson

from evatui.adapters.mcp_reason import Reason
from evatui.adapters.mcp_results import NO_ANSWER
from evatui.adapters.running import LineTooLong, Running
from evatui.kernel.model.errors import ErrorKind

if TYPE_CHECKING:
    from mcp.types import JSONRPCError

__all__ = ["piped"]

_MAX_JUNK: Final = 100
"""Lines in a row that are no message."""


@contextlib.asynccontextmanager
async def piped(running: Running, reason: Reason) -> AsyncIterator[tuple[Any, Any]]:
    """The streams that the SDK wants. ``reason`` is told why they ended; closing ``running`` is for the caller."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    came, inbox = anyio.create_memory_object_stream[Any](0)
    outbox, going = anyio.create_memory_object_stream[Any](0)

    async def read() -> None:
        junk = 0
        async with came:
            try:
                while (line := await running.read()) is not None:
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        junk += bool(line.strip())
                        if junk > _MAX_JUNK:
                            reason.set(f"{running.name} wrote more than {_MAX_JUNK} lines that are no messages")
                            return
                        if (failed := _failed(line)) is not None:
                            await came.send(SessionMessage(failed))
                        continue
                    junk = 0
                    await came.send(SessionMessage(message))
            except LineTooLong as problem:
                reason.set(str(problem), ErrorKind.OUTPUT_TOO_LARGE)
            except anyio.BrokenResourceError:
                return  # nobody listens any more
            else:
                reason.set(await running.why_it_ended())

    async def write() -> None:
        async with going:
            with contextlib.suppress(ConnectionError):  # whoever reads hears of the end as well
                async for item in going:
                    line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await running.write(line.encode())

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        try:
            yield inbox, outbox
        finally:
            await inbox.aclose()
            await outbox.aclose()
            group.cancel_scope.cancel()


def _failed(line: bytes) -> JSONRPCError | None:
    """In the place of an answer that is none: whoever waits for it need not wait any longer."""
    from mcp.types import ErrorData, JSONRPCError

    try:
        told = orjson.loads(line)
    except ValueError:
        return None
    number = told.get("id") if isinstance(told, dict) and "method" not in told else None
    if type(number) is not int:
        return None
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=NO_ANSWER, message=""))
