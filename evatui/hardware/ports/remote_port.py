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
from evatui.hardware.trouble import Trouble, translate
from evatui.kernel.model.address import Reach, literal, reach_of
from evatui.kernel.model.errors import ErrorKind

__all__ = ["ADDRESS", "RemotePort"]

ADDRESS: Final = re.compile(
    r"(rfc2217|socket)://([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\]):(\d{1,5})"
)
_SLICE_S: Final = 0.05
"""So long may a reading be that nothing can cut short."""
_CHUNK: Final = 4_096


class RemotePort:
    """A `Wire`. Whether its server lives is not known before something is asked: the first write after its death
    succeeds."""

    packets = False

    def __init__(self, address: str, line: Line) -> None:
        """Dials it. Raises `Trouble`."""
        from serial import serial_for_url

        self._cancelled = threading.Event()
        self._set = address.startswith("rfc2217:")
        self._serial: Any = None
        try:
            self._serial = serial_for_url(_dialled(address), do_not_open=True, timeout=_SLICE_S)
            if self._set:
                self._serial.baudrate = line.baud_rate
                self._serial.bytesize = line.data_bits
                self._serial.parity = PARITY[line.parity]
                self._serial.stopbits = line.stop_bits
                if line.dtr is not None:
                    self._serial.dtr = line.dtr
                if line.rts is not None:
                    self._serial.rts = line.rts
            else:
                self._serial.write_timeout = 5.0
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
            try:
                waiting = self._serial.in_waiting if self._set else _CHUNK
                said = bytes(self._serial.read(max(1, min(waiting, _CHUNK))))
            except Exception as error:
                raise translate(error, sent=True) from None
            if said or time.monotonic() >= until:
                return said
        return b""

    def discard(self) -> int:
        """What has arrived here; asking the server to forget what it has would cost a round trip for each request."""
        dropped = 0
        try:
            while self._serial.in_waiting:
                dropped += len(self._serial.read(1))
        except Exception as error:
            raise translate(error) from None
        return dropped

    def lines(self) -> Mapping[str, bool]:
        return modem_lines(self._serial) if self._set else {}

    def cancel(self) -> None:
        self._cancelled.set()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._serial.close()


def _dialled(address: str) -> str:
    """With the host as the number that was looked at, so that nothing else is dialled. Raises `Trouble`, `OSError`."""
    found = ADDRESS.fullmatch(address)
    assert found is not None  # the manifest's rules let nothing else through
    scheme, host, port = found.groups()
    entries = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    for *_, where in entries:
        number = literal(str(where[0]))
        if number is not None and reach_of(number) is not Reach.CLOSED:
            shown = f"[{number}]" if isinstance(number, IPv6Address) else str(number)
            return f"{scheme}://{shown}:{port}"
    raise Trouble(ErrorKind.DEVICE_UNAUTHORIZED, "its address is one that is never dialled")
