"""What an MCP server sends, before the SDK sees it: one malformed tool would cost the whole list, a schema of the
server's making would be compiled on the loop, and what it asks without reading an answer would be kept.

The SDK is handed no more than the name and the input schema of tools that hold up; the rest is judged by
`mcp_tools`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from evatui.adapters.mcp_reason import Reason
from evatui.adapters.mcp_tools import shape_problem
from evatui.kernel.model.errors import ErrorKind

__all__ = ["MAX_PAGES", "MAX_TOOLS", "ListProblem", "Sieve", "Sieved", "Watched"]

MAX_PAGES: Final = 100
MAX_TOOLS: Final = 1_000
_METHOD: Final = "tools/list"
_MAX_ASKED: Final = 64
"""Questions of the server that are not answered yet."""


class ListProblem(Exception):
    """A list that never ends, or is none."""


class Sieve:
    """``raw`` are the tools of the listing under way, as they came; a new listing begins with `begin`."""

    def __init__(self) -> None:
        self.raw: list[Any] = []
        self._open: set[Any] = set()
        self._asked = 0

    def begin(self) -> None:
        self.raw = []

    def sent(self, message: Any) -> None:
        if getattr(message, "method", None) == _METHOD:
            self._open.add(message.id)

    def taken(self, message: Any) -> None:
        """The server has read it, or may."""
        if not hasattr(message, "method"):
            self._asked -= 1

    def came(self, message: Any) -> str:
        """Changes a list of tools in place; anything else stays as it is. Why nothing more is taken, where that is so:
        each question would wait for its answer to be read."""
        self._list(message)
        if hasattr(message, "method") and hasattr(message, "id"):
            self._asked += 1
        if self._asked > _MAX_ASKED:
            return f"it asked more than {_MAX_ASKED} things and took no answer"
        return ""

    def _list(self, message: Any) -> None:
        number, result = getattr(message, "id", None), getattr(message, "result", None)
        if number not in self._open:
            return
        self._open.discard(number)
        if not isinstance(result, dict):
            return
        tools = result.get("tools")
        found: Sequence[Any] = tools if isinstance(tools, list) else [tools]
        room = max(0, MAX_TOOLS + 1 - len(self.raw))
        self.raw += found[:room]
        result["tools"] = [
            {"name": tool["name"], "inputSchema": tool.get("inputSchema") or {"type": "object"}}
            for tool in found[:room]
            if not shape_problem(tool)
        ]


class Sieved:
    """A stream of what comes in, sieved."""

    def __init__(self, inner: Any, sieve: Sieve, reason: Reason) -> None:
        self._inner = inner
        self._sieve = sieve
        self._reason = reason

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        from anyio import EndOfStream

        item = await self._inner.receive()
        if self._is_enough(item):
            raise EndOfStream
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        item = await self._inner.__anext__()
        if self._is_enough(item):
            raise StopAsyncIteration
        return item

    def _is_enough(self, item: Any) -> bool:
        why = self._sieve.came(getattr(item, "message", None))
        if why:
            self._reason.set(why, ErrorKind.OUTPUT_TOO_LARGE)
        return bool(why)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> bool | None:
        ended: bool | None = await self._inner.__aexit__(*failure)
        return ended


class Watched:
    """A stream of what goes out, whose questions are noted."""

    def __init__(self, inner: Any, sieve: Sieve) -> None:
        self._inner = inner
        self._sieve = sieve

    async def send(self, item: Any) -> None:
        self._sieve.sent(item.message)
        await self._inner.send(item)
        self._sieve.taken(item.message)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> bool | None:
        ended: bool | None = await self._inner.__aexit__(*failure)
        return ended
