"""Telling clients that their list of tools has changed, or their prompts, in both eras of the protocol.

Since 2026 a client listens on a stream that it asks for; before, every connection is told. Each client is told of its
own lists only, and of nothing but that they changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref

from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged

from evatui.control.failing import CommandFailed
from evatui.mcp.asking import Client
from evatui.mcp.tools import Listed, Lists

__all__ = ["Changes"]

_STREAMS = 64
"""That one principal may listen on at once."""
_BACKLOG = 64
_PAUSE_S = 0.05
"""Changes that come together are told together."""
_AT_EASE_S = 0.25
"""Most of what changes are calls: after a look for nothing the next one has time."""
_UNREAD_S = 5.0
_AGAIN_S = 1.0
"""Without a runtime there is nobody who would say that there is one again."""
_NOTHING = ("", "")


class Changes:
    """Belongs to the loop of the server; `woken` may be called from any thread."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._told: dict[str | None, tuple[str, str]] = {None: _NOTHING}
        """The revisions, of tools and of prompts, that the clients of each principal know, or have been told of. What
        anybody may see is among them: the transport asks for its schemas."""
        self._buses: dict[str | None, InMemorySubscriptionBus] = {}
        self._listening: dict[str | None, ListenHandler] = {}
        self._connections: weakref.WeakKeyDictionary[Connection, str | None] = weakref.WeakKeyDictionary()
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def listening(self, principal: str | None) -> ListenHandler:
        """What answers ``subscriptions/listen`` for this principal."""
        if principal not in self._listening:
            bus = self._buses[principal] = InMemorySubscriptionBus()
            self._listening[principal] = ListenHandler(bus, max_subscriptions=_STREAMS, max_buffered_events=_BACKLOG)
            self._told.setdefault(principal, _NOTHING)
            self._wake.set()
        return self._listening[principal]

    def connected(self, connection: Connection, principal: str | None) -> None:
        """A client of the era before 2026 has introduced itself."""
        self._connections[connection] = principal
        self._told.setdefault(principal, _NOTHING)
        self._wake.set()

    def saw(self, principal: str | None, listed: Listed) -> None:
        """A client was handed this list; one that differs from what others know is news to them."""
        tools, _ = self._told.get(principal, _NOTHING)
        if not tools:
            self._told[principal] = listed.revision, listed.prompts
        elif tools != listed.revision:
            self._wake.set()

    def woken(self) -> None:
        """Something changed."""
        with contextlib.suppress(RuntimeError):  # the server has ended, and with it whoever wanted to know
            self._loop.call_soon_threadsafe(self._wake.set)

    async def begin(self) -> None:
        """The first look, before the first client."""
        await self._look(None)

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            found = [await self._look(principal) for principal in list(self._told)]
            await asyncio.sleep(_PAUSE_S if any(found) else _AT_EASE_S)

    def close(self) -> None:
        """Every stream ends in good order."""
        for handler in self._listening.values():
            handler.close()

    async def _look(self, principal: str | None) -> bool:
        """Is any of it another than before?"""
        try:
            listed = await self._lists.of(Client(principal, {}), starts=False)
        except CommandFailed:
            self._loop.call_later(_AGAIN_S, self._wake.set)
            return False
        now = listed.revision, listed.prompts
        before, self._told[principal] = self._told[principal], now
        if before[0]:
            await self._tell(principal, tools=before[0] != now[0], prompts=before[1] != now[1])
        return before != now

    async def _tell(self, principal: str | None, *, tools: bool, prompts: bool) -> None:
        if principal in self._buses and tools:
            await self._buses[principal].publish(ToolsListChanged())
        if principal in self._buses and prompts:
            await self._buses[principal].publish(PromptsListChanged())
        told = [connection for connection, whose in list(self._connections.items()) if whose == principal]
        await asyncio.gather(*(_tell_one(connection, tools=tools, prompts=prompts) for connection in told))


async def _tell_one(connection: Connection, *, tools: bool, prompts: bool) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_UNREAD_S):  # one that reads nothing holds nobody else up
            if tools:
                await connection.send_tool_list_changed()
            if prompts:
                await connection.send_prompt_list_changed()
