"""The transport ``mcp``: somebody else's MCP server, of whose tools only those are called that a person approved.

The SDK is loaded with the first session. One task enters and leaves each session, and connects again, later and later,
when it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Final

from evatui.adapters.answers import hidden
from evatui.adapters.apart import apart
from evatui.adapters.backoff import Backoff
from evatui.adapters.mcp_asking import Asked, understood
from evatui.adapters.mcp_results import progress_from, tool_result
from evatui.adapters.mcp_session import Session, load
from evatui.adapters.mcp_shelf import Shelf
from evatui.adapters.mcp_start import Start, of_the_machine
from evatui.adapters.mcp_tools import judged
from evatui.adapters.resolving import Resolve
from evatui.kernel.host.ports import Invocation, NotSent, Setting, WayState
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import CallerType
from evatui.kernel.model.clock import SYSTEM_CLOCK, rfc3339
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.finite import is_endless
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import ServerInfo, ToolInfo, ToolState
from evatui.kernel.registry.payload import resolved

__all__ = ["McpServer"]

_DEBOUNCE_S: Final = 0.3
_LOAD_S: Final = 30.0
"""For the SDK to be loaded, on a machine that is busy."""


class McpServer:
    def __init__(self, adapter: Adapter, setting: Setting, ask: Resolve, start: Start = of_the_machine) -> None:
        self._adapter = adapter
        self._setting = setting
        self._ask = ask
        self._start = start
        self._state = WayState()
        self._session: Session | None = None
        self._owner: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._backoff = Backoff()
        self._lasting = False
        self._closed = False
        self._shelf = Shelf(adapter.id, setting.pinned)
        self._note = ""
        self._about: tuple[str, str, str] = ("", "", "")
        self._listed_at = ""
        self._told: frozenset[str] = frozenset()
        self._shown: tuple[tuple[ToolInfo, ...], str] | None = None

    # -- what others see -----------------------------------------------------------------------

    @property
    def state(self) -> WayState:
        if self._state.word == "up" and (self._session is None or self._session.over):
            return WayState("down", self._session.reason.text if self._session is not None else "")
        rested = self._state.word == "down" and not self._lasting and not self._backoff.left_s
        return WayState("idle", self._state.detail) if rested else self._state

    @property
    def server(self) -> ServerInfo:
        block = self._adapter.block
        protocol, title, version = self._about
        return ServerInfo(
            self._adapter.id,
            clean_line(block["url"] or " ".join(block["command"] or ()), 400),
            protocol,
            title,
            version,
            self._shelf.infos(self._adapter.block["tools"]),
            self._listed_at,
            self._note,
        )

    def target(self, invocation: Invocation) -> str:
        return understood(self._adapter, invocation).target

    def adjust(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def start(self) -> None:
        self._lasting = True
        self._own()

    async def invoke(self, invocation: Invocation) -> Any:
        asked = understood(self._adapter, invocation)
        session = await self._ready(invocation.left_s)
        if asked.kind == "tool":
            result = await self._call_tool(session, asked, invocation)
        else:
            result = await self._fetch(session, asked)
        return await asyncio.to_thread(hidden, result, session.secrets)

    async def probe(self) -> None:
        """Connects, where it is not connected, and lists anew. Raises `CallFailed`."""
        session = await self._ready(self._adapter.block["start_timeout_ms"] / 1000 + _LOAD_S)
        await self._list(session)

    async def close(self) -> None:
        self._closed = True
        if self._session is not None:
            self._session.reason.set("it leaves service")
        if self._owner is not None:
            self._owner.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._owner

    # -- asking --------------------------------------------------------------------------------

    async def _call_tool(self, session: Session, asked: Asked, invocation: Invocation) -> Any:
        tool = self._shelf.usable(asked.name, self._adapter.block["tools"])
        who, arguments = f"{self._adapter.id}__{asked.name}", asked.arguments
        if invocation.caller.type is CallerType.CAPABILITY and tool.input is not None:
            arguments = resolved(arguments, tool.input.empty_is_array)
        violations = await asyncio.to_thread(tool.input.check, arguments) if tool.input is not None else ()
        if violations:
            told = [{"pointer": one.pointer, "message": one.message} for one in violations]
            message = f"the arguments do not fit {who}: {violations[0].text}"
            raise NotSent(ErrorKind.INVALID_INPUT, message, retryable=False, violations=told)
        left_s = self._left_s(invocation)

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            sound = progress_from(progress, total, message)
            if sound is not None:
                invocation.told(sound)

        answer = await session.ask(
            lambda client: client.call_tool(
                asked.name, dict(arguments), read_timeout_seconds=left_s, progress_callback=hear
            ),
            who,
        )
        if await asyncio.to_thread(is_endless, answer.structured_content):
            raise failure(ErrorKind.INVALID_RESPONSE, f"{who} answered a number that is not finite")
        plain = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        return await asyncio.to_thread(tool_result, plain, tool, who)

    async def _fetch(self, session: Session, asked: Asked) -> Any:
        who = f"{self._adapter.id} {asked.name}"
        if asked.kind == "resource":
            found: Any = await session.ask(lambda client: client.read_resource(asked.name), who)
        else:
            found = await session.ask(lambda client: client.get_prompt(asked.name, dict(asked.arguments)), who)
        plain: Mapping[str, Any] = found.model_dump(by_alias=True, mode="json", exclude_none=True)
        kept = ("contents", "description", "messages")
        return {key: plain[key] for key in kept if key in plain}

    def _left_s(self, invocation: Invocation) -> float:
        limit_s: float = self._adapter.block["call_timeout_ms"] / 1000
        return min(invocation.left_s, limit_s)

    async def _ready(self, left_s: float) -> Session:
        """A session, waited for as long as it takes to start. Raises `NotSent`."""
        if self._closed:
            raise NotSent(ErrorKind.UNAVAILABLE, f"{self._adapter.id} leaves service")
        if self._session is not None and self.state.word == "up":
            return self._session
        if self._state.word == "down" and self._backoff.left_s:
            raise self._is_down()
        self._own()
        try:
            async with asyncio.timeout(left_s):
                await self._settled.wait()
        except TimeoutError:
            message = f"{self._adapter.id} is still starting"
            raise NotSent(ErrorKind.TIMEOUT, message) from None
        if self._session is None or self.state.word != "up":
            raise self._is_down()
        return self._session

    def _is_down(self) -> NotSent:
        left = self._backoff.left_s
        again = f"; it is tried again in {left:.1f} s" if left else ""
        return NotSent(ErrorKind.UNAVAILABLE, f"{self._adapter.id} is down: {self.state.detail}{again}")

    # -- the owner -----------------------------------------------------------------------------

    def _own(self) -> None:
        if self._owner is None or self._owner.done():
            self._settled.clear()
            self._owner = asyncio.get_running_loop().create_task(self._live())

    async def _live(self) -> None:
        """Session after session; where nothing keeps it connected, one."""
        attempts = 0
        await apart(load, "evatui-mcp")
        while not self._closed:
            self._state = WayState("starting")
            self._settled.clear()
            session = self._session = Session(self._adapter, self._setting, self._ask, self._start, self._over)
            why = await self._lived(session, legacy=attempts % 2 == 1)
            self._session = None
            attempts = 0 if self._state.word == "up" else attempts + 1
            self._down(session, why)
            if not self._lasting:
                return
            await asyncio.sleep(self._backoff.left_s)

    async def _lived(self, session: Session, legacy: bool) -> str:
        """Why it ended."""
        try:
            async with session.open(legacy):
                await self._list(session)
                self._up(session)
                while True:
                    await session.changed.wait()
                    if session.over:
                        return session.reason.text
                    await asyncio.sleep(_DEBOUNCE_S)
                    session.changed.clear()
                    if session.over:
                        return session.reason.text
                    await self._list(session)
        except asyncio.CancelledError:
            if self._closed or _is_cancelled():
                raise
            return session.reason.text or "the session broke"
        except Exception as error:  # whatever the SDK makes of an end, or of an answer to its greeting
            return session.reason.text or _why(_first(error))

    async def _list(self, session: Session) -> None:
        async with session.within("it has not listed its tools"):
            raw, note = await session.list_tools()
        taken = self._setting.taken()
        self._shelf.tools = tuple(await asyncio.to_thread(judged, list(raw), taken))
        self._note = note
        self._listed_at = rfc3339(SYSTEM_CLOCK.now())
        infos = self._shelf.infos(self._adapter.block["tools"])
        waiting = frozenset(info.digest for info in infos if info.state in (ToolState.NEW, ToolState.CHANGED))
        if waiting - self._told:
            names = [info.shown for info in infos if info.digest in waiting]
            self._setting.tell("quarantined", {"tools": names})
        self._told = waiting
        if (infos, note) != self._shown:
            self._shown = (infos, note)
            self._setting.tell("tools_changed", {"tools": len(infos), "waiting": len(waiting), "note": note})

    def _up(self, session: Session) -> None:
        title, version = session.title
        self._about = (session.protocol, title, version)
        self._backoff.reset()
        self._state = WayState("up")
        self._settled.set()
        self._setting.tell("up", {"protocol": session.protocol})

    def _over(self) -> None:
        """A session that never came up is known to be over before it is torn down."""
        if self._state.word == "starting" and self._session is not None:
            self._state = WayState("down", self._session.reason.text)
            self._settled.set()

    def _down(self, session: Session, why: str) -> None:
        self._backoff.failed()
        self._state = WayState("down", clean_line(why or "the session ended", 400))
        self._settled.set()
        if not self._closed:
            self._setting.tell("down", {"cause": self._state.detail})


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _first(error: BaseException) -> BaseException:
    """The cause in a group of errors."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _why(error: BaseException) -> str:
    if isinstance(error, CallFailed):
        return error.error.message
    if type(error).__name__ == "MCPError":
        return f"it answered with an error: {clean_line(getattr(error, 'message', ''), 200)}"
    if isinstance(error, RuntimeError):
        return clean_line(str(error), 200)  # the SDK's: a version that nobody speaks
    return f"it does not speak the protocol ({type(error).__name__})"
