"""A serial port behind a network address: ``rfc2217://`` sets it as well, ``socket://`` only carries its bytes."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Any, Final

from evatui.hardware.dialect import Line
from evatui.hardware.ports.serial_port import PARITY, modem_lines
from evatui.hardware.ports.tcp_port import TcpPort, endless
from evatui.hardware.ports.wire import Wire
from evatui.hardware.trouble import Trouble, translate
from evatui.kernel.model.address import Address, Reach, literal, reach_of
from evatui.kernel.model.errors import ErrorKind

__all__ = ["ADDRESS", "dial"]

ADDRESS: Final = re.compile(
    r"(rfc2217|socket)://([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\]):(\d{1,5})"
)
_SLICE_S: Final = 0.05
"""So long may a reading be that nothing can cut short."""
_CHUNK: Final = 4_096


def dial(address: str, line: Line) -> Wire:
    """What ``address`` leads to, dialled as the number that was looked at, and no other. Raises `Trouble`."""
    found = ADDRESS.fullmatch(address)
    assert found is not None  # the manifest's rules let nothing else through
    scheme, name, port = found.groups()
    try:
        host = _number(name.strip("[]"), int(port))
    except Exception as error:
        raise translate(error, opening=True) from None
    return TcpPort(str(host), int(port)) if scheme == "socket" else _RemotePort(_url(host, port), line)


class _RemotePort:
    """A `Wire`. Whether its server lives is not known before something is asked: the first write after its death
    succeeds."""

    packets = False

    def __init__(self, url: str, line: Line) -> None:
        from evatui.hardware.ports.telnet import ROOM, TelnetSerial

        self._room = ROOM
        self._cancelled = threading.Event()
        self._serial: Any = TelnetSerial(None, timeout=_SLICE_S)
        try:
            self._serial.port = url
            self._serial.baudrate = line.baud_rate
            self._serial.bytesize = line.data_bits
            self._serial.parity = PARITY[line.parity]
            self._serial.stopbits = line.stop_bits
            if line.dtr is not None:
                self._serial.dtr = line.dtr
            if line.rts is not None:
                self._serial.rts = line.rts
            self._serial.open()
            self._serial._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except Exception as error:
            self.close()
            raise translate(error, opening=True) from None

    def write(self, data: bytes) -> None:
        try:
            self._serial.write(data)
        except Exception as error:
            raise translate(error, sent=True) from None

    def read(self, until: float) -> bytes:
        while not self._cancelled.is_set():
            said = self._taken()
            if said or time.monotonic() >= until:
                return said
        return b""

    def discard(self) -> int:
        """What has arrived here; asking the server to forget what it has would cost a round trip for each request."""
        dropped = 0
        while self._waiting() and not self._cancelled.is_set():
            dropped += len(self._taken())
            if dropped > 2 * self._room:
                raise endless()
        return dropped

    def lines(self) -> Mapping[str, bool]:
        return modem_lines(self._serial)

    def cancel(self) -> None:
        self._cancelled.set()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._serial.close()

    def _waiting(self) -> int:
        try:
            return int(self._serial.in_waiting)
        except Exception as error:
            raise translate(error) from None

    def _taken(self) -> bytes:
        try:
            return bytes(self._serial.read(max(1, min(self._serial.in_waiting, _CHUNK))))
        except Exception as error:
            raise translate(error, sent=True) from None


def _number(host: str, port: int) -> Address:
    """The first of its numbers that may be dialled. Raises `Trouble`, `OSError`."""
    for *_, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        number = literal(str(where[0]))
        if number is not None and reach_of(number) is not Reach.CLOSED:
            return number
    raise Trouble(ErrorKind.DEVICE_UNAUTHORIZED, "its address is one that is never dialled")


def _url(host: Address, port: str) -> str:
    return f"rfc2217://{f'[{host}]' if isinstance(host, IPv6Address) else host}:{port}"
