"""The port of RFC 2217 of pyserial, where the other end sends what it likes."""

from __future__ import annotations

import contextlib
import queue
import time
import warnings
from collections.abc import Callable
from typing import Any, Final

from serial.rfc2217 import Serial

__all__ = ["ROOM", "TelnetSerial"]

ROOM: Final = 65_536
"""So many bytes wait to be read; then the network makes the other end wait."""
_PAUSE_S: Final = 0.05


class TelnetSerial(Serial):  # type: ignore[misc]
    def open(self) -> None:
        # how the library makes its thread is its own affair
        warnings.filterwarnings("ignore", "set(Daemon|Name)", DeprecationWarning, r"serial\.rfc2217")
        super().open()

    def _telnet_read_loop(self) -> None:
        """Whatever breaks the protocol ends the thread, which whoever reads is told; it prints no traceback."""
        self._read_buffer = _Bounded(lambda: self.is_open)
        with contextlib.suppress(Exception):
            super()._telnet_read_loop()


class _Bounded(queue.Queue[Any]):
    """Whoever fills it waits while it is full, for as long as anybody wants to read."""

    def __init__(self, wanted: Callable[[], bool]) -> None:
        super().__init__()
        self._wanted = wanted

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        while self.qsize() >= ROOM and self._wanted():
            time.sleep(_PAUSE_S)
        super().put(item, block, timeout)
