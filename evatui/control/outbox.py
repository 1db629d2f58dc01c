"""What goes out over one connection, bounded: a reader that does not keep up is told so, and hung up on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Final

from evatui.control.wire import MAX_ANSWER, encode
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Outbox"]

_STALL_S = 10.0
"""An answer of which nothing at all was read for so long is not waited for any more."""
_GRACE_S = 2.0
"""What is still to be read when a connection ends may be read for so long."""
_NOTICES = 1 << 20
"""Bytes that may lie unread while notices are added to them."""
_UNFIT: Final = {
    "code": -32000,
    "message": "the answer cannot be written as JSON",
    "data": {"kind": ErrorKind.INTERNAL.value},
}


class Outbox:
    """Everything here belongs to the loop of the connection. Once it has `ended`, what is sent is forgotten."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._turn = asyncio.Lock()
        """One answer at a time is in the buffer of the connection."""
        self.ended = asyncio.Event()
        self.why = ""
        """Why the connection was ended from here, where it was."""

    def post(self, message: Mapping[str, Any]) -> None:
        """A notice, which nobody waits for."""
        if self._unread > _NOTICES:
            self.hang_up("closing", "it does not read what it is sent")
        elif not self.ended.is_set() and not self._writer.is_closing():
            self._writer.write(_line(message))

    async def send(self, message: Mapping[str, Any]) -> None:
        """An answer; returns once it is read, as far as that can be told."""
        line = _answer(message)
        async with self._turn:
            if self.ended.is_set() or self._writer.is_closing():
                return
            self._writer.write(line)
            if self._unread:  # most answers are gone by now
                with contextlib.suppress(ConnectionError):
                    await self._read()

    async def _read(self) -> None:
        before = self._unread + 1
        while self._unread < before:
            before = self._unread
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STALL_S):
                    await self._writer.drain()
                return
        self.hang_up("closing", "it does not read what it is sent")

    def hang_up(self, method: str, why: str) -> None:
        """The last that is sent is the notice ``method`` with the reason."""
        if not self.ended.is_set():
            self.why = why
            self._writer.write(_line({"method": method, "params": {"reason": why}}))
            self.close()

    def close(self) -> None:
        """What was sent may still be read, but not for ever."""
        self.ended.set()
        self._writer.close()
        if self._unread:
            asyncio.get_running_loop().call_later(_GRACE_S, self._writer.transport.abort)

    @property
    def _unread(self) -> int:
        return self._writer.transport.get_write_buffer_size()


def _answer(message: Mapping[str, Any]) -> bytes:
    """Whoever asked is answered, also where the answer itself cannot be sent."""
    try:
        line = _line(message)
    except TypeError:
        return _line({"id": message["id"], "error": _UNFIT})
    return line if len(line) <= MAX_ANSWER else _line({"id": message["id"], "error": _too_long(len(line))})


def _too_long(size: int) -> dict[str, Any]:
    message = f"the answer has {size:,} bytes, and at most {MAX_ANSWER:,} go over the control socket"
    return {"code": -32000, "message": message, "data": {"kind": ErrorKind.OUTPUT_TOO_LARGE.value}}


def _line(message: Mapping[str, Any]) -> bytes:
    return encode({"jsonrpc": "2.0", **message})
