"""Calls over MCP and standard input and output: our server against a bare server of the same SDK that does the same."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.bench.arms import Arm, interleave
from tests.bench.mcp_bare import SAME, SCHEMA
from tests.bench.payloads import payload
from tests.bench.results import Section, compared
from tests.mcp.house import ERAS, POLICY, handler, over_pipe, policy
from tests.support.workspaces import write

__all__ = ["measure"]

_OTHERS = {"the same work": "lua", "MCPServer": "high", "low-level Server": "echo"}
_HERE = Path(__file__).parents[2]
_AT_ONCE = 8
_TIMES = 100


async def measure(rounds: int) -> list[Section]:
    lines: list[str] = []
    schema = json.dumps(SCHEMA)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, {**handler("same", SAME, input_schema=schema, output_schema=schema), POLICY: policy({})})
        with _serving(root):
            for era in ERAS:
                async with AsyncExitStack() as open_:
                    clients = {"evatui": await open_.enter_async_context(over_pipe(root, era))}
                    for name, kind in _OTHERS.items():
                        clients[name] = await open_.enter_async_context(_bare(era, kind))
                    lines += await _compared(era, clients, rounds)
    note = (
        "A handler that gives back what it gets. evatui: in a runtime of another process, with schemas, policy, "
        "sandbox and audit. The others are servers of the SDK alone: one does the same work with nothing around it "
        "(schemas, and the handler in plain lupa), one is its `MCPServer` and one its low-level `Server`, both with a "
        "function in Python.\n"
        f"The time of a call; with {_AT_ONCE} at once that of all by the number of calls. The ratio is how many calls "
        "evatui answers in the time in which the other answers one (wanted: 0.8 of one that does the same work)."
    )
    return [Section("Calls over MCP", note, lines)]


async def _compared(era: str, clients: Mapping[str, Any], rounds: int) -> list[str]:
    lines: list[str] = []
    for name, value in (("nothing in and out", {}), ("1 KB in and out", payload(1_000))):
        for words, at_once in (("one after the other", 1), (f"{_AT_ONCE} at once", _AT_ONCE)):
            arms = [Arm(who, _timed(client, value, at_once)) for who, client in clients.items()]
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
async def _bare(era: str, kind: str) -> AsyncIterator[Any]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    words = ["-m", "tests.bench.mcp_bare", kind]
    command = StdioServerParameters(command=sys.executable, args=words, cwd=str(_HERE))
    async with Client(command, mode=era) as client:
        await client.list_tools()
        yield client
