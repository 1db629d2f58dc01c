"""A serial port that this process alone has. Blocking, for one thread; `cancel` is for any."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from evatui.hardware.dialect import Line
from evatui.hardware.holder import refuse_foreign_holder
from evatui.hardware.trouble import translate

try:
    import fcntl
    import termios
except ImportError:  # Windows gives a port to one program only
    fcntl = None  # type: ignore[assignment]
    termios = None  # type: ignore[assignment]

__all__ = ["PARITY", "SerialPort", "modem_lines"]

PARITY: Final = {"none": "N", "even": "E", "odd": "O"}
_CHUNK: Final = 4_096
_LINES: Final = ("cts", "dsr", "ri", "cd")


def _nothing() -> None:
    """There is nothing behind the port."""


def _anything(node: str | int) -> None:
    """Whatever is there is meant."""


class SerialPort:
    """A `Wire`."""

    packets = False

    def __init__(
        self,
        path: str,
        line: Line,
        let_go: Callable[[], None] = _nothing,
        check: Callable[[str | int], None] = _anything,
    ) -> None:
        """Opens it; ``let_go`` is called when it is closed, also where it could not be opened. ``check`` is asked of
        the path before that, since opening alone jolts many a device, and of the descriptor after it, and raises
        where it is another one. What it had sent before is lost: the library drops that. Raises `Trouble`."""
        from serial import Serial

        self._line = line
        self._let_go = let_go
        self._has_lines = True
        self._serial: Any = Serial()
        try:
            check(path)
            refuse_foreign_holder(path)
            self._serial.port = path
            self._serial.baudrate = line.baud_rate
            self._serial.bytesize = line.data_bits
            self._serial.parity = PARITY[line.parity]
            self._serial.stopbits = line.stop_bits
            self._serial.exclusive = True if fcntl is not None else None
            if line.dtr is not None:
                self._serial.dtr = line.dtr
            if line.rts is not None:
                self._serial.rts = line.rts
            self._serial.open()
            check(self._serial.fileno() if fcntl is not None else path)
            if fcntl is not None:  # the lock that the library takes keeps out only those who ask for one
                fcntl.ioctl(self._serial.fileno(), termios.TIOCEXCL)
        except Exception as error:
            self.close()
            raise translate(error, opening=True) from None

    def write(self, data: bytes) -> None:
        """Gives up when the line could have carried twice as much."""
        try:
            self._serial.write_timeout = max(0.5, 2 * len(data) * 10 / self._line.baud_rate)
            self._serial.write(data)
        except Exception as error:
            raise translate(error, sent=True) from None

    def read(self, until: float) -> bytes:
        try:
            self._serial.timeout = max(0.0, until - time.monotonic())
            first = self._serial.read(1)
            waiting = min(self._serial.in_waiting, _CHUNK) if first else 0
            return bytes(first + (self._serial.read(waiting) if waiting else b""))
        except Exception as error:
            raise translate(error, sent=True) from None

    def discard(self) -> int:
        try:
            waiting = int(self._serial.in_waiting)
            if waiting:
                self._serial.reset_input_buffer()
            return waiting
        except Exception as error:
            raise translate(error) from None

    def lines(self) -> Mapping[str, bool]:
        found = modem_lines(self._serial) if self._has_lines else {}
        self._has_lines = bool(found)
        return found

    def cancel(self) -> None:
        with contextlib.suppress(Exception):
            self._serial.cancel_read()
            self._serial.cancel_write()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._serial.close()
        self._let_go()


def modem_lines(port: Any) -> dict[str, bool]:
    """Of a port of pyserial; none where it has none."""
    try:
        return {name: bool(getattr(port, name)) for name in _LINES}
    except Exception:  # each kind of port says in another way that it has none
        return {}
