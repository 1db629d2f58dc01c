"""What goes between a worker and its host: frames of four bytes of length and a body."""

from __future__ import annotations

import socket

__all__ = ["MAX_REQUEST", "Channel", "Gone", "OutOfTurn"]

MAX_REQUEST = 32 << 20
"""A program with all its modules is the largest that is sent to a worker."""

_HEAD = 4
_BUFFER = 1 << 16


class Gone(Exception):
    """The other side has closed the connection."""


class OutOfTurn(Exception):
    """The other side sent more than it may."""


class Channel:
    """One side of a connection on which both sides speak in turn. Blocks; raises `Gone` or `OSError`."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._view = memoryview(bytearray(_BUFFER))

    def send(self, body: bytes) -> None:
        self._sock.sendall(len(body).to_bytes(_HEAD, "little") + body)

    def receive(self, most: int) -> memoryview:
        """The body of the next frame, until the next call. More than ``most`` bytes raise `OutOfTurn`."""
        view = self._view
        got = self._fill(view, 0, _HEAD)
        end = _HEAD + int.from_bytes(view[:_HEAD], "little")
        if end > _HEAD + most or got > end:
            raise OutOfTurn
        if end > _BUFFER:
            large = memoryview(bytearray(end))
            large[:got] = view[:got]
            view = large
        if got < end:
            self._fill(view[:end], got, end)
        return view[_HEAD:end]

    def _fill(self, view: memoryview, got: int, wanted: int) -> int:
        """Reads into ``view`` until ``wanted`` bytes are there; how many are."""
        while got < wanted:
            more = self._sock.recv_into(view[got:])
            if more == 0:
                raise Gone
            got += more
        return got

    def silent(self) -> bool:
        """Whether the other side is there and has said nothing."""
        try:
            self._sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        self._sock.close()
