"""HTTP for MCP: each connection is dialled to an address that was looked at, and every answer is counted.

Names are resolved once for each connection, and no address is dialled unless all of the name are as far away as they
may be: to answer otherwise the next time gains a server nothing. JSON and events share one limit. A stream that waits
for news may last, so for it the limit is on what comes within a time.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

import httpcore2
import httpx2

from evatui.adapters.mcp_reason import Reason
from evatui.adapters.resolving import Resolve, checked_addresses
from evatui.kernel.model.address import Reach
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["RESPONSE_BYTES", "Carrier"]

RESPONSE_BYTES: Final = 4_194_304
"""Of one answer, however it is written."""
_NEWS_BYTES_PER_S: Final = 16_384
_CONNECT_S: Final = 5.0
_NEWS: Final = b"subscriptions/listen"


class Carrier(httpx2.AsyncBaseTransport):
    """``reach`` is how far away the server must be. ``reason`` is told why nothing more came."""

    def __init__(self, reach: Reach, ask: Resolve, trust: ssl.SSLContext, reason: Reason) -> None:
        self._reason = reason
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trust, max_connections=10, keepalive_expiry=30, network_backend=_Checked(reach, ask, reason)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"accept-encoding"]
        headers.append((b"Accept-Encoding", b"identity"))
        sent = httpcore2.Request(
            method=request.method,
            url=url,
            headers=headers,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            response = await self._pool.handle_async_request(sent)
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as error:
            self._reason.set(f"{clean_line(request.url.host, 256)} cannot be reached: {_said(error)}")
            raise httpx2.ConnectError(self._reason.text, request=request) from None
        except CallFailed as failed:
            self._reason.set(failed.error.message, failed.error.kind)
            raise httpx2.ConnectError(self._reason.text, request=request) from None
        lasts = request.method == "GET" or request.headers.get("mcp-method", "").encode() == _NEWS
        body = _Counted(response.stream, self._reason, lasts, request)
        return httpx2.Response(
            status_code=response.status, headers=response.headers, stream=body, extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: Any, reason: Reason, lasts: bool, request: httpx2.Request) -> None:
        self._inner = inner
        self._reason = reason
        self._lasts = lasts
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came, since, pieces = 0, time.monotonic(), 0
        try:
            async for chunk in self._inner:
                came += len(chunk)
                pieces += 1
                grown = (time.monotonic() - since) * _NEWS_BYTES_PER_S if self._lasts else 0
                if came > RESPONSE_BYTES + grown:
                    self._reason.set(f"the answer has more than {RESPONSE_BYTES:,} bytes", ErrorKind.OUTPUT_TOO_LARGE)
                    raise httpx2.ReadError(self._reason.text, request=self._request)
                if pieces % 64 == 0:
                    await asyncio.sleep(0)
                yield chunk
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as error:
            raise httpx2.ReadError(_said(error), request=self._request) from None

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Checked(httpcore2.AsyncNetworkBackend):
    """Looks at all addresses of a name, then dials one of just those."""

    def __init__(self, reach: Reach, ask: Resolve, reason: Reason) -> None:
        self._reach = reach
        self._ask = ask
        self._system = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the library's name
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await checked_addresses(host, self._reach, self._ask)
        problem: Exception = httpcore2.ConnectError("it has no address")
        for address in addresses:
            try:
                return await self._system.connect_tcp(str(address), port, timeout or _CONNECT_S)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error
        raise problem

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _said(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {clean_line(cause.verify_message, 200)}"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore2.TimeoutException):
        return "it takes too long"
    if isinstance(error, httpcore2.ProtocolError):
        return "it does not speak HTTP/1.1 as it should"
    return "it does not answer" if isinstance(error, httpcore2.ConnectError) else "the connection broke"
