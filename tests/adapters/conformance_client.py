"""``python -m tests.adapters.conformance_client URL``: our side of the public harness's client scenarios.

Connects as an adapter does, approves what is listed, and calls it: as the context says, else with the least that its
schema asks for.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evatui.adapters.mcp import McpServer
from evatui.adapters.resolving import SystemNames
from evatui.kernel.host.ports import Invocation, Setting
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.model.tools import Definition, ToolInfo, ToolState
from tests.adapters.mcp_ground import adapter_of, mcp_http

_LEAST = {"string": "x", "number": 1, "integer": 1, "boolean": True, "array": [], "object": {}, "null": None}


def least(schema: Mapping[str, Any]) -> Any:
    """The least that fits, as far as a type tells."""
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        return {name: least(properties.get(name, {})) for name in schema.get("required", properties)}
    return schema.get("default", _LEAST.get(str(schema.get("type")), "x"))


async def main(url: str) -> None:
    adapter = adapter_of(
        mcp_http(url, "tools: ['*'], allow_loopback: true, elicitation: defaults, start_timeout_ms: 60000")
    )
    approved: list[dict[str, Definition]] = [{}]
    setting = Setting(Path(__file__).parent, _no_key, lambda: approved[-1], frozenset, lambda what, more: None)
    server = McpServer(adapter, setting, SystemNames())
    try:
        await server.probe()
        tools = server.server.tools
        approved.append({tool.name: tool.definition for tool in tools if tool.definition is not None})
        for name, arguments in _asked(tools):
            payload = {"tool": name, "arguments": arguments}
            caller = Actor(CallerType.CLI, "harness")
            call = Invocation(
                "mcp.tool.call", payload, "req_1", "trace_1", caller, 60.0, 1_000_000, lambda progress: None
            )
            try:
                print(name, json.dumps(await server.invoke(call)), file=sys.stderr)
            except CallFailed as failed:
                print(name, failed, file=sys.stderr)
    finally:
        await server.close()


def _asked(tools: Sequence[ToolInfo]) -> list[tuple[str, Any]]:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    calls = context.get("toolCalls")
    if calls:
        return [(one["name"], _given(one.get("arguments", {}))) for one in calls]
    usable = [tool for tool in tools if tool.state is not ToolState.SKIPPED and tool.definition is not None]
    schemas = {tool.name: tool.definition.body["inputSchema"] for tool in usable if tool.definition is not None}
    return [(name, _arguments(name, schema, schemas)) for name, schema in schemas.items()]


def _given(arguments: Mapping[str, Any]) -> Any:
    """Null is no text and no number: who has none to give leaves it out."""
    return {name: value for name, value in arguments.items() if value is not None}


def _arguments(name: str, schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    if name == "json_schema_echo":  # is to be told the schema of its neighbour, as it arrived here
        return {"schema": next(other for key, other in schemas.items() if key != name)}
    return least(schema)


def _no_key(name: str) -> Any:
    raise KeyError(name)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
