"""Servers of the SDK alone, over standard input and output: ``python -m tests.bench.mcp_bare KIND``.

``lua`` does the work that evatui does for a call, with nothing around it: the same schemas, and the same handler, in
plain lupa. ``high`` is the SDK's `MCPServer` with a Python function. ``echo`` is the SDK's low-level `Server` with a
Python function that nothing is held against.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import jsonschema_rs
from mcp.server import MCPServer, Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

from tests.bench.bare import BareLua

__all__ = ["SAME", "SCHEMA"]

SAME = "function invoke(ctx, request) return {ok = true, result = request.payload} end"
SCHEMA = {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "object"}}}}

Handler = Callable[[Any], Awaitable[Any]]


async def _echo(arguments: Any) -> Any:
    return arguments


def _in_lua() -> Handler:
    lua, fits = BareLua(SAME), jsonschema_rs.validator_for(SCHEMA).is_valid

    async def call(arguments: Any) -> Any:
        assert fits(arguments)
        answer = await lua.call({"capability": "test.same", "payload": arguments})
        result = answer["result"]
        assert fits(result)
        return result

    return call


async def _low(handler: Handler) -> None:
    async def call(context: Any, params: Any) -> CallToolResult:
        result = await handler(dict(params.arguments))
        return CallToolResult(content=[TextContent(text=json.dumps(result))], structured_content=result)

    async def tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="test_same", input_schema=SCHEMA)])

    server = Server("bare", on_call_tool=call, on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _high() -> None:
    server = MCPServer("bare")

    @server.tool(name="test_same")
    async def same(items: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        return {} if items is None else {"items": items}

    await server.run_stdio_async()


if __name__ == "__main__":
    kind = sys.argv[1]
    asyncio.run(_high() if kind == "high" else _low(_in_lua() if kind == "lua" else _echo))
