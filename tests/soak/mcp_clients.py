"""Calls over MCP while versions come and go: a client of each era over each transport, all of one runtime."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evatui.control.client_sessions import ClientRow
from evatui.control.kernel import Kernel
from evatui.control.snapshot import Cursor
from tests.cli.real import holding
from tests.mcp.house import ERAS, FILES, House, handler, housed, over_pipe
from tests.support.waiting import until
from tests.support.workspaces import save

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["EVERY", "Heard", "calls_over_reloads"]

_TOOL = "test_changes"
_BODY = "function invoke(ctx, request) return {ok = true, result = {generation = request.context.generation}} end"


@dataclass
class Heard:
    """What one client met. ``lists`` are the descriptions that it saw after it was told to look."""

    told: int = 0
    lists: list[str] = field(default_factory=list)
    generations: set[str] = field(default_factory=set)
    calls: int = 0
    errors: list[str] = field(default_factory=list)


EVERY = tuple((way, era) for way in ("stdio", "http") for era in ERAS)
"""The transports and eras."""


async def calls_over_reloads(
    root: Path, calls: int, reloads: int, clients_of: Sequence[tuple[str, str]] = EVERY
) -> dict[tuple[str, str], Heard]:
    """What each client met, by transport and era; each makes ``calls``, spread over ``reloads``.

    At the end the runtime is another one, which those over pipes go over to for one call more.
    """
    heard = {key: Heard() for key in clients_of}
    async with AsyncExitStack() as stay:
        with housed(root, {**FILES, **handler("changes", _BODY)}) as house:
            async with AsyncExitStack() as leave:
                stacks = {"stdio": stay, "http": leave}
                clients = {key: await _listening(stacks[key[0]], house, *key, one) for key, one in heard.items()}
                for number in range(1, reloads + 1):
                    calling = [_call(client, heard[key], calls // reloads) for key, client in clients.items()]
                    await asyncio.gather(_reload(house, number), *calling)
                    await until(lambda n=number: all(one.lists[-1:] == [f"version {n}"] for one in heard.values()))
        with holding(root) as kernel:
            for key, client in clients.items():
                if key[0] == "stdio":
                    await _call(client, heard[key], 1)
            rows = connected(kernel)
            assert {(row.transport, row.last_call, row.calls) for row in rows} == {("stdio", _TOOL, 1)}
            await stay.aclose()
            await until(lambda: not connected(kernel))
    return heard


def connected(kernel: Kernel) -> tuple[ClientRow, ...]:
    assert kernel.desk is not None
    return kernel.desk.snapshot(Cursor()).clients


async def _listening(stack: AsyncExitStack, house: House, way: str, era: str, heard: Heard) -> Client:
    changed = asyncio.Event()

    async def hear(message: Any) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            changed.set()

    connected = (
        over_pipe(house.root, era, message_handler=hear) if way == "stdio" else house.client(era, message_handler=hear)
    )
    client = await stack.enter_async_context(connected)
    if era != "legacy":
        subscription = await stack.enter_async_context(client.listen(tools_list_changed=True))

        async def follow() -> None:
            async for _ in subscription:
                changed.set()

        _kept(stack, follow())
    await client.list_tools()

    async def look() -> None:
        while True:
            await changed.wait()
            changed.clear()
            heard.told += 1
            found = await client.list_tools(cache_mode="refresh")
            heard.lists.append(str(next(tool.description for tool in found.tools if tool.name == _TOOL)))

    _kept(stack, look())
    return client


def _kept(stack: AsyncExitStack, work: Any) -> None:
    task = asyncio.create_task(work)

    async def end() -> None:
        task.cancel()
        await asyncio.wait((task,))

    stack.push_async_callback(end)


async def _call(client: Client, heard: Heard, count: int) -> None:
    for _ in range(count):
        result = await client.call_tool(_TOOL, {})
        heard.calls += 1
        if result.is_error:
            heard.errors.append(str(result.content))
        else:
            heard.generations.add(result.structured_content["generation"])


async def _reload(house: House, number: int) -> None:
    text = handler("changes", _BODY)["capabilities/changes.yaml"].replace("Does changes", f"version {number}")
    await asyncio.to_thread(save, house.root, "capabilities/changes.yaml", text)
