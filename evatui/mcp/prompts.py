"""Prompts as clients ask for them: which there are for each is the runtime's to say, every time."""

from __future__ import annotations

from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    TextContent,
)

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.mcp.asking import Runs, asked
from evatui.mcp.context import Context, WhoAsks

__all__ = ["Prompts"]


class Prompts:
    def __init__(self, runs: Runs, who: WhoAsks) -> None:
        self._runs = runs
        self._who = who

    async def list(self, ctx: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "Unknown cursor: list from the beginning")
        told = await self._asked("mcp.prompts", ctx)
        prompts = [Prompt(**one) for one in told["prompts"]]
        return ListPromptsResult(prompts=prompts, ttl_ms=0, cache_scope="private")

    async def get(self, ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.arguments:
            raise MCPError(INVALID_PARAMS, "The prompt takes no arguments")
        told = await self._asked("mcp.prompt", ctx, name=params.name)
        text = TextContent(type="text", text=told["text"])
        return GetPromptResult(description=told["description"], messages=[PromptMessage(role="user", content=text)])

    async def _asked(self, command: str, ctx: Context, **params: Any) -> dict[str, Any]:
        try:
            return await self._runs.run(command, **asked(self._who(ctx)), **params)
        except CommandFailed as problem:
            code = INVALID_PARAMS if problem.kind is ErrorKind.NOT_FOUND else INTERNAL_ERROR
            raise MCPError(code, problem.message) from None
