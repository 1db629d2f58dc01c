"""A serial port that this process alone has. Blocking, for one thread; `cancel` is for any."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Final

from evatui.hardware.dialect import Line
from evatui.hardware.holder import foreign_holder
from evatui.hardware.trouble import Trouble, translate
from evatui.kernel.model.errors import ErrorKind

try:
    import fcntl
    import termios
except ImportError:  # Windows gives a port to one program only
    fcntl = None  # type: ignore[assignment]
    termios = None  # type: ignore[assignment]

__all__ = ["Port"]

_PARITY: Final = {"none": "N", "even": "E", "odd": "O"}
_CHUNK: Final = 4_096


class Port:
    """Every method raises `Trouble`, but for `cancel` and `close`, which raise nothing."""

    def __init__(self, path: str, line: Line) -> None:
        """Opens it. What it had sent before is lost: the library drops that."""
        from serial import Serial

        holder = foreign_holder(path)
        if holder is not None:
            message = f"pid {holder.pid} ({holder.program}) has the device open"
            raise Trouble(
                ErrorKind.DEVICE_BUSY, message, retryable=True, holder={"pid": holder.pid, "program": holder.program}
            )
        self._line = line
        self._serial: Any = Serial()
        try:
            self._serial.port = path
            self._serial.baudrate = line.baud_rate
            self._serial.bytesize = line.data_bits
            self._serial.parity = _PARITY[line.parity]
            self._serial.stopbits = line.stop_bits
            self._serial.exclusive = True if fcntl is not None else None
            if line.dtr is not None:
                self._serial.dtr = line.dtr
            self._serial.open()
            if fcntl is not None:  # the lock that the library takes keeps out only those who ask for one
                fcntl.ioctl(self._serial.fileno(), termios.TIOCEXCL)
        except Exception as error:
            self.close()
            raise translate(error, opening=True) from None

    def write(self, data: bytes) -> None:
        """All of ``data``; gives up when the line could have carried twice as much."""
        try:
            self._serial.write_timeout = max(0.5, 2 * len(data) * 10 / self._line.baud_rate)
            self._serial.write(data)
        except Exception as error:
            raise translate(error, sent=True) from None

    def read(self, until: float) -> bytes:
        """What has come, at least a byte; nothing once ``until`` (monotonic seconds) has passed, or `cancel` came."""
        try:
            self._serial.timeout = max(0.0, until - time.monotonic())
            first = self._serial.read(1)
            waiting = min(self._serial.in_waiting, _CHUNK) if first else 0
            return bytes(first + (self._serial.read(waiting) if waiting else b""))
        except Exception as error:
            raise translate(error, sent=True) from None

    def discard(self) -> None:
        """What has come and nobody has read."""
        try:
            self._serial.reset_input_buffer()
        except Exception as error:
            raise translate(error) from None

    def cancel(self) -> None:
        with contextlib.suppress(Exception):
            self._serial.cancel_read()
            self._serial.cancel_write()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._serial.close()
