"""The connection that an answer comes over, read so that no server keeps the loop, or feeds it for nothing."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Final

import httpcore2

from evatui.kernel.model.errors import ErrorKind, failure

__all__ = ["Measure", "Measured"]

_READ_OF_HEAD: Final = 2_048
_READ_OF_BODY: Final = 16_384
_PIECES: Final = 64
_MAX_LINES: Final = 1_024
_MAX_BESIDE: Final = 65_536


class Measure:
    """What has come of one answer. What is not body costs time to understand, and may never end."""

    def __init__(self) -> None:
        self._came = 0
        self._body = 0
        self._lines = 0
        self._pieces = 0

    @property
    def most(self) -> int:
        """Bytes to read at a time. Headers are understood many at once, pieces of a body one by one."""
        return _READ_OF_BODY if self._pieces else _READ_OF_HEAD

    def check(self) -> None:
        """Before more is read. Raises ``InputTooLarge``."""
        if self._lines > _MAX_LINES:
            raise failure(ErrorKind.INPUT_TOO_LARGE, f"the answer has more than {_MAX_LINES:,} lines of headers")
        if self._came - self._body > _MAX_BESIDE + self._body:
            message = f"the answer has more than {_MAX_BESIDE:,} bytes, and most of them are not its body"
            raise failure(ErrorKind.INPUT_TOO_LARGE, message)

    def read(self, data: bytes) -> None:
        self._came += len(data)
        self._lines += data.count(b"\n")

    async def understood(self, size: int) -> None:
        """A piece of the body, of so many bytes: whatever came before it is dealt with."""
        self._body += size
        self._lines = 0
        self._pieces += 1
        if self._pieces % _PIECES == 0:
            await asyncio.sleep(0)


class Measured(httpcore2.AsyncNetworkStream):
    """Reads a little at a time, and lets the loop turn before each: understanding it takes longer than reading."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, measure: Measure) -> None:
        self._stream = stream
        self._measure = measure

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  the library's name
        self._measure.check()
        await asyncio.sleep(0)
        data = await self._stream.read(min(max_bytes, self._measure.most), timeout)
        self._measure.read(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        return Measured(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._measure)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
