"""A simulated HID device: what hidapi would open, with whole reports and the 64 places that a system has for them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from evatui.hardware.ports.hid_port import FULL
from evatui.hardware.simulators.faults import SLOW_S, Fault
from evatui.hardware.simulators.models import Reporting

__all__ = ["Reporter"]

_GARBAGE: Final = b"\xfe\x81\x0a"


class Reporter:
    """A `Handle`, open from the beginning. Thread-safe; it needs no thread of its own."""

    def __init__(self, model: Reporting, fault: Callable[[], Fault]) -> None:
        self._model = model
        self._fault = fault
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._there = True
        self._changed = threading.Condition()

    def unplug(self) -> None:
        """Whoever reads it sees it go at once. Idempotent."""
        with self._changed:
            self._there = False
            self._changed.notify_all()

    def get_report_descriptor(self) -> list[int]:
        return list(self._model.descriptor)

    def write(self, data: bytes) -> int:
        """-1 where it went away, as the library has it."""
        with self._changed:
            if not self._there:
                return -1
            fault = self._fault()
            ready = time.monotonic() + (SLOW_S if fault is Fault.SLOW else 0.0)
            for report in self._model.reports(data) if fault not in (Fault.MUTE, Fault.UNPLUG) else ():
                if len(self._waiting) < FULL:  # the newer ones are lost
                    self._waiting.append((ready, _spoilt(report, fault)))
            self._changed.notify_all()
        return len(data)

    def read(self, size: int, timeout_ms: int) -> list[int]:
        """Raises `OSError` where it went away, without a number, as the library does."""
        until = time.monotonic() + timeout_ms / 1000
        with self._changed:
            while True:
                now = time.monotonic()
                if not self._there:
                    raise OSError("read error")
                ready = self._waiting[0][0] if self._waiting else until
                if self._waiting and ready <= now:
                    return list(self._waiting.popleft()[1][:size])
                if now >= until:
                    return []
                self._changed.wait(max(0.001, min(ready, until) - now))

    def send_feature_report(self, data: bytes) -> int:
        with self._changed:
            if not self._there:
                return -1
            self._model.set_feature(data)
        return len(data)

    def get_feature_report(self, number: int, size: int) -> list[int]:
        """Raises `OSError` as `read` does, and where the device has none."""
        with self._changed:
            fault, said = self._fault(), self._model.feature(number)
        if not self._there or fault is Fault.MUTE or said is None:
            raise OSError("read error")
        return list(_spoilt(said, fault)[:size])

    def close(self) -> None:
        self.unplug()


def _spoilt(report: bytes, fault: Fault) -> bytes:
    match fault:
        case Fault.GARBAGE:
            return _GARBAGE
        case Fault.PARTIAL:
            return report[: len(report) // 2]
    return report
