"""What a client sends over HTTP, before the protocol sees it: it comes in time, is a message, and is asked once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.types import INVALID_REQUEST
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Bodies"]

_WITHIN_S = 20.0
"""A body that takes longer is not waited for."""
_AT_ONCE = 128
"""Requests of one client, its streams among them."""

_Asked: TypeAlias = tuple[str, str, str]
"""Whose, of which session, and by which id."""


class Bodies:
    """In front of the protocol, and behind the token."""

    def __init__(self, app: ASGIApp, limit: int, who: Callable[[Scope], str]) -> None:
        """``limit`` is in bytes; ``who`` says whose a request is."""
        self._app = app
        self._who = who
        self._limited = RequestBodyLimitMiddleware(self._judge, limit)
        self._open: Counter[str] = Counter()
        self._asked: set[_Asked] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = self._who(scope)
        if self._open[who] >= _AT_ONCE:
            answer = PlainTextResponse("Too many requests at once", 503, {"Retry-After": "1"})
            await answer(scope, receive, send)
            return
        self._open[who] += 1
        try:
            # Nothing is resumed here: a stream begins anew for whoever asks from where to go on.
            kept = [(name, value) for name, value in scope["headers"] if name != b"last-event-id"]
            await self._limited({**scope, "headers": kept}, _in_time(receive), send)
        except _Late:
            await PlainTextResponse("The body did not come", 408)(scope, receive, send)
        finally:
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]

    async def _judge(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        first = await receive()
        message = _parsed(first)
        asked = self._asks(scope, message)
        if (wrong := _wrong(message)) or asked in self._asked:
            await _refusal(wrong or "an id is for one request at a time")(scope, receive, send)
            return
        if asked is None:
            await self._app(scope, _again(first, receive), send)
            return
        self._asked.add(asked)
        try:
            await self._app(scope, _again(first, receive), send)
        finally:
            self._asked.discard(asked)

    def _asks(self, scope: Scope, message: Any) -> _Asked | None:
        """What must not be asked a second time meanwhile: its first answer would be lost."""
        session = Request(scope).headers.get("mcp-session-id")
        number = _id(message) if isinstance(message, Mapping) and "method" in message else None
        return (self._who(scope), session, number) if session is not None and number is not None else None


class _Late(Exception):
    """The body did not come in time."""


def _in_time(receive: Receive) -> Receive:
    """Raises `_Late` while the body is not there; what comes after that, the end of a connection, has time."""
    whole = False

    async def received() -> Message:
        nonlocal whole
        try:
            async with asyncio.timeout_at(None if whole else deadline):
                message = await receive()
        except TimeoutError:
            raise _Late from None
        whole = whole or message["type"] != "http.request" or not message.get("more_body", False)
        return message

    deadline = asyncio.get_running_loop().time() + _WITHIN_S
    return received


def _again(first: Message, receive: Receive) -> Receive:
    waiting = [first]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received


def _parsed(message: Message) -> Any:
    """None where it is no JSON, which the protocol refuses in its own words."""
    try:
        return from_json(message.get("body", b""))
    except ValueError:
        return None


def _wrong(message: Any) -> str:
    """What the SDK would take for a notification, which is never answered."""
    if isinstance(message, Mapping) and "method" in message and "id" in message and _id(message) is None:
        return "an id is a text or an integer"
    return ""


def _id(message: Mapping[str, Any]) -> str | None:
    """As the SDK keeps it: a number and the same as text are one."""
    found = message.get("id")
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


def _refusal(text: str) -> Response:
    error = {"code": INVALID_REQUEST, "message": f"Invalid request: {text}"}
    body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    return Response(body, 400, media_type="application/json")
