"""MCP servers outside, as commands see and decide of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evatui.control.params import Params, read_names, read_needed, read_text
from evatui.kernel.model.call import Actor
from evatui.runtime import Runtime

__all__ = ["outside"]


def outside(runtime: Runtime) -> Mapping[str, Callable[[Params, Actor], Awaitable[dict[str, Any]]]]:
    tools = runtime.tools

    async def servers(params: Params, actor: Actor) -> dict[str, Any]:
        return {"servers": tools.servers()}

    async def probe(params: Params, actor: Actor) -> dict[str, Any]:
        return await tools.probe(read_needed(params, "server"))

    async def approve(params: Params, actor: Actor) -> dict[str, Any]:
        server, names = read_needed(params, "server"), read_names(params, "tools")
        return await tools.approve(server, names, actor, read_text(params, "digest"), read_text(params, "typed"))

    async def revoke(params: Params, actor: Actor) -> dict[str, Any]:
        return await tools.revoke(read_needed(params, "server"), read_names(params, "tools"), actor)

    return {"mcp.servers": servers, "mcp.probe": probe, "mcp.approve": approve, "mcp.revoke": revoke}
