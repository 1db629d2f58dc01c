"""The protocol: what MCP clients ask becomes a question to the runtime, and its answer theirs.

Nothing about a client or a call is kept here: whoever asks is told by the transport, each time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListToolsResult,
    PaginatedRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from mcp.types.methods import validate_client_request
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from evatui import __version__
from evatui.control.failing import CommandFailed
from evatui.control.operator import OnProgress
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.progress import Progress
from evatui.mcp.asking import Runs, asked
from evatui.mcp.changes import Changes
from evatui.mcp.context import Context, WhoAsks
from evatui.mcp.prompts import Prompts
from evatui.mcp.results import answered, failed
from evatui.mcp.tools import Lists, page

__all__ = ["Context", "ToolServer", "WhoAsks"]

_INSTRUCTIONS = (
    "Tools of an evatui workspace. They are replaced while they run: list them again when told that they changed."
)
_REPORTS = 32
_KNOWN = "evatui"

for _name in ("mcp", "mcp_types"):  # what goes wrong with a client is on record; a screen is no place for it
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False


class ToolServer(Server[Any]):
    """One for all clients of a transport; build it on the loop that it serves on."""

    def __init__(self, runs: Runs, who: WhoAsks) -> None:
        self._runs = runs
        self._who = who
        self._lists = Lists(runs)
        self._prompts = Prompts(runs, who)
        self.changes = Changes(self._lists)
        super().__init__(
            "evatui",
            version=__version__,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list,
            on_list_prompts=self._prompts.list,
            on_get_prompt=self._prompts.get,
            on_subscriptions_listen=self._listen,
            get_tool_input_schema=self._lists.header_schema,
        )
        self.middleware = [self._attend]  # without the SDK's own, which is for a collector that nobody set up

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Over HTTP nobody passes ``notification_options``; clients are told of changes all the same."""
        changes = notification_options or NotificationOptions(tools_changed=True, prompts_changed=True)
        return super().create_initialization_options(changes, experimental_capabilities, extensions)

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """While it is entered, clients are told when their lists change."""
        self._runs.on_change(self.changes.woken)
        await self.changes.begin()
        watching = asyncio.create_task(self.changes.run())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait((watching,))

    async def _list(self, ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        client = self._who(ctx)
        try:
            listed = await self._lists.of(client)
        except CommandFailed as problem:
            raise MCPError(INTERNAL_ERROR, problem.message) from None
        self.changes.saw(client.principal, listed)
        return page(listed, params.cursor if params is not None else None, ctx.protocol_version)

    async def _call(self, ctx: Context) -> dict[str, Any]:
        """In the place of a handler, for which the SDK would look through the arguments, and the result, twice: they
        are any JSON, for the schemas of the runtime to judge."""
        name, arguments = _asked_for(ctx)
        client, request_id = self._who(ctx), new_id("req")
        given = {**asked(client), "tool": name, "arguments": arguments, "request_id": request_id}
        try:
            async with _reported(ctx) as on_progress:
                report = await self._runs.run("mcp.call", on_progress=on_progress, **given)
        except CommandFailed as problem:
            if problem.kind is ErrorKind.NOT_FOUND:
                raise MCPError(INVALID_PARAMS, problem.message) from None
            return failed(problem, request_id, ctx.protocol_version)
        return answered(report, ctx.protocol_version)

    async def _listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        return await self.changes.listening(self._who(ctx).principal)(ctx, params)

    async def _attend(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS and ctx.method != "initialize":
            self._remember(ctx)
        try:
            return await (self._call(ctx) if ctx.method == "tools/call" else call_next(ctx))
        except (MCPError, ValidationError):
            raise
        except Exception:
            raise MCPError(INTERNAL_ERROR, "Internal server error") from None  # else the SDK would quote it

    def _remember(self, ctx: Context) -> None:
        """A connection that lasts: to tell it of changes, once it is ready, and the runtime of its end."""
        # The SDK has no other way to reach a connection once its request has been answered.
        connection = ctx.session._connection
        if _KNOWN not in connection.state:
            connection.state[_KNOWN] = True
            connection.exit_stack.push_async_callback(self._left, self._who(ctx).session["id"])
        if ctx.method == "notifications/initialized":
            self.changes.connected(connection, self._who(ctx).principal)

    async def _left(self, session: str) -> None:
        with contextlib.suppress(CommandFailed):  # a runtime that is gone remembers no session
            await self._runs.run("mcp.leave", starts=False, session=session)


def _asked_for(ctx: Context) -> tuple[str, dict[str, Any]]:
    """The tool and its arguments. Raises `ValidationError` for what is no such request, or comes before a handshake."""
    params = dict(ctx.params or {})
    arguments = params.get("arguments")
    if isinstance(arguments, dict):
        params["arguments"] = {}
    if ctx.session.client_params is None and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(INVALID_PARAMS, "Invalid request parameters")
    validate_client_request("tools/call", ctx.protocol_version, params)
    return params["name"], arguments if arguments is not None else {}


@contextlib.asynccontextmanager
async def _reported(ctx: Context) -> AsyncIterator[OnProgress | None]:
    """What hears of the progress of a call, and tells a client that asked for it; all of it before the answer."""
    meta: Mapping[str, Any] = ctx.meta or {}
    if meta.get("progress_token") is None:
        yield None
        return
    queue: asyncio.Queue[Progress | None] = asyncio.Queue(_REPORTS)

    def heard(progress: Progress) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            queue.put_nowait(progress)

    telling = asyncio.create_task(_tell(ctx, queue))
    try:
        yield heard
        await queue.put(None)
        await telling
    finally:
        telling.cancel()


async def _tell(ctx: Context, queue: asyncio.Queue[Progress | None]) -> None:
    """Only what is further than what was told before, as the protocol wants it."""
    last = -1.0
    while (progress := await queue.get()) is not None:
        if progress.done > last:
            last = progress.done
            await ctx.session.report_progress(progress.done, progress.total, progress.message or None)
