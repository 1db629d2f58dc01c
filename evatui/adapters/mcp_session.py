"""One session with an MCP server: entered and left by one task, which every call goes through."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, TypeVar

from evatui import __version__
from evatui.adapters.address import address_of
from evatui.adapters.mcp_reason import Reason
from evatui.adapters.mcp_results import told
from evatui.adapters.mcp_sieve import MAX_PAGES, MAX_TOOLS, ListProblem, Sieve, Sieved, Watched
from evatui.adapters.mcp_start import Start
from evatui.adapters.resolving import Resolve
from evatui.adapters.running import Running
from evatui.kernel.host.credentials import Credential
from evatui.kernel.host.ports import Setting
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.text import clean_line

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["Session", "load"]

T = TypeVar("T")
_READ_S: Final = 300.0


class Session:
    """``start`` starts the program of one that speaks over pipes. ``changed`` is set when the server says that its
    tools changed, and when the session ends, which ``reason`` tells of. ``secrets`` are what it was given."""

    def __init__(
        self, adapter: Adapter, setting: Setting, ask: Resolve, start: Start, on_over: Callable[[], None]
    ) -> None:
        self.changed = asyncio.Event()
        self.reason = Reason(self._wake)
        self.secrets: list[Credential] = []
        self.running: Running | None = None
        self._adapter = adapter
        self._setting = setting
        self._ask = ask
        self._start = start
        self._sieve = Sieve()
        self._client: Client | None = None
        self._on_over = on_over
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def over(self) -> bool:
        return self._ended.done()

    @property
    def protocol(self) -> str:
        return self._client.protocol_version if self._client is not None else ""

    @property
    def title(self) -> tuple[str, str]:
        """What the server calls itself, and its version."""
        found = self._client.server_info if self._client is not None else None
        return (clean_line(found.name, 128), clean_line(found.version, 64)) if found is not None else ("", "")

    @contextlib.asynccontextmanager
    async def open(self, legacy: bool) -> AsyncIterator[None]:
        """Connects, and ends what it has started. For one task; raises whatever went wrong."""
        from mcp import Client
        from mcp.types import Implementation

        from evatui.adapters.mcp_elicitation import by_defaults

        answers = self._adapter.block["elicitation"] == "defaults"
        async with AsyncExitStack() as stack:
            async with self.within("it has not come up"):  # the scopes of anyio would have to nest
                streams = await self._streams(stack)
                client = Client(
                    _Transport(*streams),
                    mode="legacy" if legacy else "auto",
                    cache=None,
                    message_handler=self._heard,
                    elicitation_callback=by_defaults(self._setting.tell) if answers else None,
                    client_info=Implementation(name="evatui", version=__version__),
                )
                self._client = await stack.enter_async_context(client)
            if self._client.protocol_version >= "2026":
                news = asyncio.create_task(self._listen(self._client))
                stack.push_async_callback(_given_up, news)
            try:
                yield
            finally:
                self._wake()

    @contextlib.asynccontextmanager
    async def within(self, what: str) -> AsyncIterator[None]:
        """For as long as a start may take; past that the reason is known before anything is torn down."""
        limit_ms = self._adapter.block["start_timeout_ms"]
        try:
            async with asyncio.timeout(limit_ms / 1000):
                yield
        except TimeoutError:
            words = self.running.last_words if self.running is not None else ""
            self.reason.set(f"{what} within {limit_ms} ms{f': {words}' if words else ''}")
            raise

    async def ask(self, work: Callable[[Client], Awaitable[T]], who: str) -> T:
        """What the server answers. Raises `CallFailed`, as soon as the session ends where it does."""
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        if self._client is None or self.over:
            raise self.reason.failed(self._adapter.id)
        asking = asyncio.ensure_future(work(self._client))
        waited: set[asyncio.Future[Any]] = {asking, self._ended}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait([asking], timeout=1)
        if not asking.done() or asking.cancelled():
            raise self.reason.failed(self._adapter.id)
        error = asking.exception()
        if error is None:
            return asking.result()
        if isinstance(error, MCPError):
            if self.reason.text:
                raise self.reason.failed(self._adapter.id) from None
            raise told(error.code, error.message, who) from None
        if isinstance(error, ValidationError | RuntimeError):
            message = f"{who} answered what the protocol does not allow"
            raise failure(ErrorKind.INVALID_RESPONSE, message) from None
        if isinstance(error, CallFailed):
            raise error
        raise failure(ErrorKind.UNAVAILABLE, f"{self._adapter.id} is gone: {self.reason.text}") from error

    async def list_tools(self) -> tuple[list[Any], str]:
        """Every tool as it came, and why there may be more, empty where that is all. Raises `CallFailed`."""
        self._sieve.begin()
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            try:
                page = await self.ask(lambda client, at=cursor: client.list_tools(cursor=at), self._adapter.id)  # type: ignore[misc]
            except ListProblem as problem:
                return self._sieve.raw, str(problem)
            cursor = page.next_cursor
            if len(self._sieve.raw) > MAX_TOOLS:
                del self._sieve.raw[MAX_TOOLS:]
                return self._sieve.raw, f"it lists more than {MAX_TOOLS:,} tools"
            if cursor is None:
                return self._sieve.raw, ""
            if cursor in seen:
                return self._sieve.raw, "its list of tools leads back to a page that came before"
            seen.add(cursor)
        return self._sieve.raw, f"its list of tools has more than {MAX_PAGES} pages"

    # -- inside --------------------------------------------------------------------------------

    def _wake(self) -> None:
        self.changed.set()
        if not self._ended.done():
            self._ended.set_result(None)
            self._on_over()

    async def _heard(self, message: Any) -> None:
        from mcp.types import ToolListChangedNotification

        root = getattr(message, "root", message)
        if isinstance(root, ToolListChangedNotification):
            self.changed.set()

    async def _listen(self, client: Client) -> None:
        """News of a server of the newer protocol."""
        with contextlib.suppress(Exception):  # one that has no news is asked no more; a call shows whether it lives
            async with client.listen(tools_list_changed=True) as news:
                async for _ in news:
                    self.changed.set()

    async def _streams(self, stack: AsyncExitStack) -> tuple[Any, Any]:
        block = self._adapter.block
        came, going = await (self._piped(stack) if block["server"] == "stdio" else self._carried(stack))
        return Sieved(came, self._sieve, self.reason), Watched(going, self._sieve)

    async def _piped(self, stack: AsyncExitStack) -> tuple[Any, Any]:
        from evatui.adapters.mcp_pipe import piped

        started = await stack.enter_async_context(self._start(self._adapter, self._setting))
        self.running, self.secrets = started.running, started.secrets
        return await stack.enter_async_context(piped(self.running, self.reason))

    async def _carried(self, stack: AsyncExitStack) -> tuple[Any, Any]:
        import httpcore2
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        from evatui.adapters.mcp_web import Carrier

        block = self._adapter.block
        address = address_of(block)
        secrets = await asyncio.to_thread(address.secrets, block["headers"], self._setting.key)
        self.secrets = list(secrets.values())
        trust = await asyncio.to_thread(httpcore2.default_ssl_context)
        client = httpx2.AsyncClient(
            transport=Carrier(address.reach, self._ask, trust, self.reason),
            headers={name: secret.text for name, secret in secrets.items()},
            timeout=httpx2.Timeout(5.0, read=_READ_S),
            max_redirects=0,
            trust_env=False,
        )
        await stack.enter_async_context(client)
        return await stack.enter_async_context(streamable_http_client(block["url"], http_client=client))


class _Transport:
    """Streams that are open already, as the SDK wants a transport."""

    def __init__(self, came: Any, going: Any) -> None:
        self._streams = came, going

    async def __aenter__(self) -> tuple[Any, Any]:
        return self._streams

    async def __aexit__(self, *failure: Any) -> None:
        """They are closed by whoever opened them."""


async def _given_up(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def load() -> None:
    """Loads the SDK, which takes a while: for a thread. What it writes down of what a server sends goes nowhere: on a
    terminal it would be painted over the console."""
    import mcp.client.streamable_http
    import mcp.types  # noqa: F401

    import evatui.adapters.mcp_web  # noqa: F401

    for name in ("mcp.client", "mcp.shared", "client", "httpx2", "httpcore2"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
            logger.propagate = False
