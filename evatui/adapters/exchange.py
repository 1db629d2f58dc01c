"""One HTTP/1.1 exchange by httpcore2, dialled to given addresses; names stay for TLS and the ``Host`` header."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import httpcore2

from evatui.adapters.measured import Measure, Measured
from evatui.kernel.host.ports import Exchange, Reply
from evatui.kernel.model.address import Address
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.text import clean_line

__all__ = ["Speaker"]

_MAX_HEADERS = 128
_MAX_HEADER_BYTES = 65_536
_WITH_BODY = ("POST", "PUT", "PATCH")
_PACKINGS = {"": False, "identity": False, "gzip": True, "x-gzip": True}
_GZIP = 31
_PATIENCE_S = 5.0
"""For an address that does not answer, where there is another one to try."""
_Stream = httpcore2.AsyncNetworkStream


class Speaker:
    """Certificates are checked against those that the system trusts, or the file that ``SSL_CERT_FILE`` names."""

    def __init__(self) -> None:
        self._trust: ssl.SSLContext | None = None

    async def exchange(self, exchange: Exchange, addresses: Sequence[Address]) -> Reply:
        """As `HttpPort.send` says, to the first of the ``addresses`` that answers."""
        url = exchange.url
        if (
            url.scheme == "https" and self._trust is None
        ):  # at first use: to read hundreds of certificates takes a while
            self._trust = await asyncio.to_thread(httpcore2.default_ssl_context)
        measure = Measure()
        dialled = _Dialled(addresses, measure)
        where: Mapping[str, Any] = {"scheme": url.scheme.encode(), "host": url.host.encode(), "port": url.port}
        connection = httpcore2.AsyncHTTPConnection(
            httpcore2.Origin(**where), ssl_context=self._trust, network_backend=dialled
        )
        request = httpcore2.Request(
            exchange.method,
            httpcore2.URL(**where, target=url.target.encode()),
            headers=_headers(exchange),
            content=exchange.body,
        )
        try:
            with _explained(clean_line(url.host, 256)):
                response = await connection.handle_async_request(request)
                headers = _read_headers(response)
                body = await _body(response, headers, exchange.max_bytes, measure)
        finally:
            await dialled.close()
        return Reply(response.status, headers, body)


class _Dialled(httpcore2.AsyncNetworkBackend):
    """Dials the addresses it was given, whatever host it is asked for."""

    def __init__(self, addresses: Sequence[Address], measure: Measure) -> None:
        self._addresses = addresses
        self._measure = measure
        self._system = httpcore2.AnyIOBackend()
        self._stream: _Stream | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the library's name
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> _Stream:
        *others, last = self._addresses
        for address in others:
            with suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return await self._dial(address, port, _PATIENCE_S)
        return await self._dial(last, port, timeout)

    async def _dial(self, address: Address, port: int, seconds: float | None) -> _Stream:
        self._stream = Measured(await self._system.connect_tcp(str(address), port, seconds), self._measure)
        return self._stream

    async def close(self) -> None:
        """Closed here, since a connection that was cancelled in its TLS handshake does not close it."""
        if self._stream is not None:
            await self._stream.aclose()


def _headers(exchange: Exchange) -> list[tuple[bytes, bytes]]:
    given = {name.lower() for name, _ in exchange.headers}
    own = [("Host", exchange.url.authority), ("Connection", "close"), ("Accept-Encoding", "gzip")]
    own += [(name, text) for name, text in (("Accept", "*/*"), ("User-Agent", "evatui")) if name.lower() not in given]
    if exchange.body or exchange.method in _WITH_BODY:
        own.append(("Content-Length", str(len(exchange.body))))
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in (*own, *exchange.headers)]


def _read_headers(response: httpcore2.Response) -> tuple[tuple[str, str], ...]:
    headers = response.headers
    if len(headers) > _MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > _MAX_HEADER_BYTES:
        raise failure(ErrorKind.INPUT_TOO_LARGE, f"the answer has more than {_MAX_HEADER_BYTES:,} bytes of headers")
    return tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers)


async def _body(
    response: httpcore2.Response, headers: Sequence[tuple[str, str]], limit: int, measure: Measure
) -> bytes:
    """Counted as it comes and as it unpacks: either may be far more than the other."""
    packing = ", ".join(value for name, value in headers if name == "content-encoding").strip().lower()
    if packing not in _PACKINGS:
        raise failure(
            ErrorKind.HOST_ERROR, f"the answer is packed as {clean_line(packing, 64)}, which was not asked for"
        )
    unpacker = zlib.decompressobj(_GZIP) if _PACKINGS[packing] else None
    data, came = bytearray(), 0
    async for chunk in response.aiter_stream():
        came += len(chunk)
        await measure.understood(len(chunk))
        data += unpacker.decompress(chunk, limit + 1 - len(data)) if unpacker else chunk
        if max(came, len(data)) > limit:
            raise failure(ErrorKind.INPUT_TOO_LARGE, f"the answer has more than {limit:,} bytes")
    if unpacker and came and (not unpacker.eof or unpacker.unused_data):
        raise zlib.error("it ends too early, or too late")
    return bytes(data)


@contextmanager
def _explained(host: str) -> Iterator[None]:
    """Tells in the kernel's words what went wrong; `CallFailed` passes."""
    try:
        yield
    except httpcore2.ConnectError as error:
        raise _not_connected(host, error) from None
    except httpcore2.RemoteProtocolError:
        raise failure(ErrorKind.HOST_ERROR, f"{host} does not answer in HTTP/1.1 as it should") from None
    except httpcore2.LocalProtocolError:
        raise failure(ErrorKind.INVALID_INPUT, "the request cannot be written as HTTP/1.1") from None
    except zlib.error:
        raise failure(ErrorKind.HOST_ERROR, f"the answer of {host} cannot be unpacked") from None
    except httpcore2.NetworkError:
        raise failure(ErrorKind.UNAVAILABLE, f"the connection to {host} broke") from None


def _not_connected(host: str, error: httpcore2.ConnectError) -> CallFailed:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        reason = clean_line(cause.verify_message, 200)
        return failure(ErrorKind.HOST_ERROR, f"the certificate of {host} is not trusted: {reason}")
    if cause is not None:
        return failure(ErrorKind.HOST_ERROR, f"{host} does not speak TLS as it should")
    return failure(ErrorKind.UNAVAILABLE, f"{host} cannot be reached", retryable=True)
