"""The HTTP application: borders, then the token, then the protocol; and the one route that says how to get in."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    AuthorizationContext,
    BearerAuthBackend,
    RequireAuthMiddleware,
)
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evatui.mcp.asking import Client
from evatui.mcp.bodies import Bodies
from evatui.mcp.borders import Borders
from evatui.mcp.server import Context, ToolServer
from evatui.mcp.tokens import SCOPE, Unreachable, Verifier

__all__ = ["PATH", "make_app", "who_asks"]

PATH = "/mcp"
_METADATA = f"/.well-known/oauth-protected-resource{PATH}"
_MAX_BODY = 2 << 20
"""Bytes of a request: more than the largest input that a policy allows by itself."""
_MAX_SESSIONS = 256
_SESSIONS_EACH = 64
_SILENT_S = 1800.0
_QUOTING = ("Validation error", "Parse error")


def make_app(server: ToolServer, verifier: Verifier, borders: Borders, base: str) -> Starlette:
    """``base`` is how clients reach it: ``http://127.0.0.1:8765``."""
    manager = _Sessions(
        app=server,
        session_idle_timeout=_SILENT_S,
        max_sessions=_MAX_SESSIONS,
        security_settings=TransportSecuritySettings(
            allowed_hosts=list(borders.hosts), allowed_origins=list(borders.origins)
        ),
    )
    resource = AnyHttpUrl(f"{base}{PATH}")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run(), server.watching():
            yield

    async def metadata(request: Request) -> Response:
        return JSONResponse(
            {
                "resource": str(resource),
                "resource_name": "evatui",
                "scopes_supported": [SCOPE],
                "bearer_methods_supported": ["header"],
            }
        )

    sound = Bodies(_Terse(StreamableHTTPASGIApp(manager)), _MAX_BODY, _whose)
    guarded = RequireAuthMiddleware(sound, [SCOPE], AnyHttpUrl(f"{base}{_METADATA}"))
    return Starlette(
        routes=[Route(PATH, endpoint=guarded), Route(_METADATA, endpoint=metadata, methods=["GET"])],
        middleware=[
            Middleware(_AtBorders, borders=borders),
            Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(verifier, resource_server_url=resource)),
            Middleware(AuthContextMiddleware),
        ],
        lifespan=lifespan,
    )


def who_asks(ctx: Context) -> Client:
    """The principal of the very request; the session of the era before 2026, or what stands for it since."""
    request: Any = ctx.request
    user: AuthenticatedUser = request.user
    told = ctx.session.client_params
    name = f"{told.client_info.name} {told.client_info.version}" if told is not None else ""
    said = request.headers.get("mcp-session-id") or f"{user.display_name} {name}"
    session = hashlib.sha256(said.encode()).hexdigest()[:16]  # never the id itself, which is for its owner
    return Client(
        user.access_token.client_id,
        {"id": session, "transport": "http", "client": name, "protocol": ctx.protocol_version},
    )


def _whose(scope: Scope) -> str:
    user: AuthenticatedUser = scope["user"]
    return user.access_token.client_id


class _Sessions(StreamableHTTPSessionManager):
    """One client does not take the sessions of all."""

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        mine = sum(owner == requestor for owner in self._session_owners.values())
        return super()._admit_session(requestor) if mine < _SESSIONS_EACH else None


class _AtBorders:
    def __init__(self, app: ASGIApp, borders: Borders) -> None:
        self._app = app
        self._borders = borders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            named = scope["headers"]
            refusal = self._borders.refusal(
                [value for name, value in named if name == b"host"],
                [value for name, value in named if name == b"origin"],
            )
            if refusal is not None:
                await PlainTextResponse(refusal[1], refusal[0])(scope, receive, send)
                return
        try:
            await self._app(scope, receive, send)
        except Unreachable:
            answer = PlainTextResponse("No runtime answers", 503, {"Retry-After": "1"})
            await answer(scope, receive, send)


class _Terse:
    """What the SDK says of a message that is none quotes it, and its own insides: only the first words go out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started: Message | None = None

        async def cut(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start" and message["status"] == 400:
                started = message
            elif started is not None:
                start, started = started, None
                body = _cut(message.get("body", b""))
                kept = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
                length = (b"content-length", str(len(body)).encode())
                await send({**start, "headers": [*kept, length]})
                await send({**message, "body": body})
            else:
                await send(message)

        await self._app(scope, receive, cut)


def _cut(body: bytes) -> bytes:
    try:
        told = orjson.loads(body)
        first = next(word for word in _QUOTING if told["error"]["message"].startswith(word))
    except (ValueError, TypeError, KeyError, StopIteration):
        return body
    told["error"]["message"] = first
    return orjson.dumps(told)
