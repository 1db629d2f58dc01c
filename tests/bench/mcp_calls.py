"""Calls over MCP and standard input and output: our server against a bare server of the same SDK that does the same."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.bench.arms import Arm, interleave
from tests.bench.payloads import payload
from tests.bench.results import Section, compared
from tests.mcp.house import ERAS, POLICY, handler, over_pipe, policy
from tests.support.workspaces import write

__all__ = ["measure"]

_BARE = """
import asyncio, json
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

async def call(ctx, params):
    result = dict(params.arguments)
    return CallToolResult(content=[TextContent(text=json.dumps(result))], structured_content=result)

async def tools(ctx, params):
    return ListToolsResult(tools=[Tool(name="test_same", input_schema={"type": "object"})])

async def main():
    server = Server("bare", on_call_tool=call, on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
"""
_SAME = "function invoke(ctx, request) return {ok = true, result = request.payload} end"
_AT_ONCE = 8
_TIMES = 100


async def measure(rounds: int) -> list[Section]:
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, {**handler("same", _SAME), POLICY: policy({})})
        with _serving(root):
            for era in ERAS:
                async with _bare(era) as bare, over_pipe(root, era) as ours:
                    lines += await _compared(era, bare, ours, rounds)
    note = (
        "A handler that gives back what it gets: in a runtime of another process, with schemas, policy, sandbox and "
        "audit; and in Python, in the server itself, with none of that.\n"
        f"The time of a call; with {_AT_ONCE} at once that of all by the number of calls."
    )
    return [Section("Calls over MCP", note, lines)]


async def _compared(era: str, bare: Any, ours: Any, rounds: int) -> list[str]:
    lines: list[str] = []
    for name, value in (("nothing in and out", {}), ("1 KB in and out", payload(1_000))):
        for words, at_once in (("one after the other", 1), (f"{_AT_ONCE} at once", _AT_ONCE)):
            arms = [Arm("bare SDK", _timed(bare, value, at_once)), Arm("evatui", _timed(ours, value, at_once))]
            lines += [f"### {era}, {name}, {words}", "", *compared(await interleave(arms, rounds), "µs", 1e6, 0), ""]
    return lines


def _timed(client: Any, value: Any, at_once: int) -> Callable[[], Awaitable[float]]:
    async def some() -> None:
        for _ in range(_TIMES // at_once):
            result = await client.call_tool("test_same", value)
            assert result.structured_content == value

    async def run() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(some() for _ in range(at_once)))
        return (time.perf_counter() - began) / (_TIMES // at_once * at_once)

    return run


@contextmanager
def _serving(root: Path) -> Iterator[None]:
    words = [sys.executable, "-m", "evatui.cli.main", "-o", "json", "-w", str(root), "serve"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


@asynccontextmanager
async def _bare(era: str) -> AsyncIterator[Any]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    async with Client(StdioServerParameters(command=sys.executable, args=["-c", _BARE]), mode=era) as client:
        await client.list_tools()
        yield client
