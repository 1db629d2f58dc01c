"""Bytes to and from an address of the network, with nothing that could set the port behind it."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Mapping
from typing import Final

from evatui.hardware.trouble import Trouble, translate
from evatui.kernel.model.errors import ErrorKind

__all__ = ["TcpPort", "endless"]

_DIAL_S: Final = 5.0
_WRITE_S: Final = 5.0
_CHUNK: Final = 4_096
_MOST: Final = 16 * 1_048_576
"""No system keeps more than this for whoever does not read."""


class TcpPort:
    """A `Wire`. Whether its server lives is not known before something is asked: the first write after its death
    succeeds."""

    packets = False

    def __init__(self, host: str, port: int) -> None:
        """Dials it. Raises `Trouble`."""
        try:
            self._socket = socket.create_connection((host, port), timeout=_DIAL_S)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._wakes, self._wake = socket.socketpair()
        except Exception as error:
            raise translate(error, opening=True) from None

    def write(self, data: bytes) -> None:
        until, left = time.monotonic() + _WRITE_S, memoryview(data)
        try:
            while left:
                if not self._waits(until, writing=True):
                    raise TimeoutError
                left = left[self._socket.send(left) :]
        except Exception as error:
            raise translate(error, sent=True) from None

    def read(self, until: float) -> bytes:
        try:
            return self._taken() if self._waits(until) else b""
        except Exception as error:
            raise translate(error, sent=True) from None

    def discard(self) -> int:
        dropped = 0
        try:
            while self._waits(0.0):
                dropped += len(self._taken())
                if dropped > _MOST:
                    raise endless()
        except Exception as error:
            raise translate(error) from None
        return dropped

    def lines(self) -> Mapping[str, bool]:
        return {}

    def cancel(self) -> None:
        with contextlib.suppress(OSError):
            self._wake.send(b"x")

    def close(self) -> None:
        for one in (self._socket, self._wakes, self._wake):
            with contextlib.suppress(OSError):
                one.close()

    def _taken(self) -> bytes:
        said = self._socket.recv(_CHUNK)
        if not said:
            raise ConnectionResetError
        return said

    def _waits(self, until: float, *, writing: bool = False) -> bool:
        """True when it can be read, or written; False when the time is over, or `cancel` came."""
        mine = [self._socket]
        left = max(0.0, until - time.monotonic())
        read, write, _ = select.select([self._wakes, *([] if writing else mine)], mine if writing else [], [], left)
        return self._wakes not in read and bool(read or write)


def endless() -> Trouble:
    message = "the device says so much that nothing can be asked of it"
    return Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, message, retryable=True)
