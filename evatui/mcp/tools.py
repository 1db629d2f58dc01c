"""The list of tools as one client gets it, kept until it changes, and handed out in pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, ListToolsResult, Tool
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from evatui.mcp.asking import Client, Runs, asked

__all__ = ["PAGE", "Listed", "Lists", "page"]

PAGE = 200
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Listed:
    """``modern`` and ``legacy`` are the same tools in the two eras of the protocol, in the order of their names;
    ``prompts`` is the revision of the prompts."""

    revision: str
    modern: Sequence[Tool]
    legacy: Sequence[Tool]
    header_schemas: Mapping[str, Mapping[str, Any]]
    """The input schemas, by tool, that bind arguments to HTTP headers."""
    prompts: str = ""


class Lists:
    """The newest list of each principal; that it still is the newest is asked every time."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._known: dict[str | None, Listed] = {}

    async def of(self, client: Client, *, starts: bool = True) -> Listed:
        """Raises `CommandFailed`."""
        known = self._known.get(client.principal)
        revision = known.revision if known else None
        told = await self._runs.run("mcp.tools", starts=starts, **asked(client), known=revision)
        if known is None or told["tools"] is not None:
            while len(self._known) >= _KEPT:
                del self._known[next(iter(self._known))]
            known = self._known[client.principal] = _listed(told["revision"], told["tools"])
        return replace(known, prompts=told["prompts"])

    def header_schema(self, name: str) -> Mapping[str, Any] | None:
        """Of a tool that anybody sees, where it binds arguments to HTTP headers."""
        return next((one.header_schemas[name] for one in self._known.values() if name in one.header_schemas), None)


def _listed(revision: str, tools: Sequence[dict[str, Any]]) -> Listed:
    return Listed(
        revision,
        [Tool.model_validate(tool) for tool in tools],
        [Tool.model_validate(_for_legacy(tool)) for tool in tools],
        {tool["name"]: tool["inputSchema"] for tool in tools if "x-mcp-header" in str(tool["inputSchema"])},
    )


def _for_legacy(tool: dict[str, Any]) -> dict[str, Any]:
    """Before 2026 structured content is an object, so a schema for anything else is not told of."""
    if tool["outputSchema"].get("type") == "object":
        return tool
    return {key: value for key, value in tool.items() if key != "outputSchema"}


def page(listed: Listed, cursor: str | None, protocol: str) -> ListToolsResult:
    """The tools from ``cursor`` on; a cursor is good for one revision of the list."""
    tools = listed.modern if protocol in MODERN_PROTOCOL_VERSIONS else listed.legacy
    first = 0
    if cursor is not None:
        revision, _, at = cursor.partition(".")
        if revision != listed.revision[:16] or not at.isdecimal() or not 0 < int(at) < len(tools):
            raise MCPError(INVALID_PARAMS, "Unknown cursor: list from the beginning")
        first = int(at)
    last = first + PAGE
    following = f"{listed.revision[:16]}.{last}" if last < len(tools) else None
    return ListToolsResult(tools=list(tools[first:last]), next_cursor=following, ttl_ms=0, cache_scope="private")
