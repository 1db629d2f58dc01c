"""An open HID device. What is written and read are whole reports, their number first; the system checks the length of
none of them, so that is done here."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from evatui.hardware.ports.reports import reports_in
from evatui.hardware.trouble import Trouble, translate
from evatui.kernel.model.errors import ErrorKind

__all__ = ["FULL", "Handle", "HidPort"]

FULL: Final = 63
"""So many reports the system keeps for whoever does not read; it drops the newer ones."""
_SLICE_MS: Final = 50
"""A device must not be closed while it is read, and a reading cannot be cut short."""


class Handle(Protocol):
    """A device as hidapi opens it."""

    def get_report_descriptor(self) -> list[int]: ...
    def write(self, data: bytes) -> int: ...
    def read(self, size: int, timeout_ms: int) -> list[int]: ...
    def send_feature_report(self, data: bytes) -> int: ...
    def get_feature_report(self, number: int, size: int) -> list[int]: ...
    def close(self) -> None: ...


class HidPort:
    """A `Wire`."""

    packets = True

    def __init__(self, handle: Handle, let_go: Callable[[], None], feature: int | None = None) -> None:
        """``handle`` is open; ``let_go`` is called when it is closed. With ``feature`` the device is set by feature
        reports, and the one of that number is read back. Raises `Trouble`."""
        self._handle = handle
        self._feature = feature
        self._let_go = let_go
        self._cancelled = threading.Event()
        try:
            self._reports = reports_in(bytes(handle.get_report_descriptor()))
        except Exception as error:
            self.close()
            if isinstance(error, ValueError):
                message = "its descriptor says nothing of its reports that can be understood"
                raise Trouble(ErrorKind.DEVICE_OPEN_FAILED, message) from None
            raise translate(error, opening=True) from None
        self._longest = max(self._reports.inputs.values(), default=0) + 2
        self._taking = self._reports.outputs if feature is None else self._reports.features
        self._send = handle.write if feature is None else handle.send_feature_report

    def write(self, data: bytes) -> None:
        """A report with its number first; what is missing at its end is filled with zeros."""
        number, size = data[0], self._taking.get(data[0])
        if size is None:
            kind = "report" if self._feature is None else "feature report"
            raise Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, f"the device takes no {kind} {number}")
        if self._feature is not None and self._feature not in self._taking:
            raise Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, f"the device has no feature report {self._feature}")
        if len(data) - 1 > size:
            said = f"report {number} of the device has {size} bytes, and the command {len(data) - 1}"
            raise Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, said)
        try:
            written = self._send(data.ljust(size + 1, b"\0"))
        except Exception as error:
            raise translate(error, sent=True) from None
        if written < 0:  # how the library says so
            if self._feature is not None:
                raise self._refused()
            raise Trouble(ErrorKind.DEVICE_DISCONNECTED, "the device went away", sent=True)

    def read(self, until: float) -> bytes:
        if self._feature is not None:
            return self._read_back(self._feature)
        while not self._cancelled.is_set():
            left_ms = min(_SLICE_MS, max(0, round((until - time.monotonic()) * 1000)))
            said = self._said(left_ms)
            if said or time.monotonic() >= until:
                return said
        return b""

    def discard(self) -> int:
        dropped = 0
        while dropped < 4 * FULL and self._taken(0):
            dropped += 1
        return dropped

    def lines(self) -> Mapping[str, bool]:
        return {}

    def cancel(self) -> None:
        self._cancelled.set()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._handle.close()
        self._let_go()

    def _read_back(self, number: int) -> bytes:
        size = self._reports.features[number]
        try:
            said = bytes(self._handle.get_feature_report(number, size + 1))
        except Exception:
            raise self._refused() from None
        if len(said) != size + 1 or said[0] != number:
            raise _unlike_its_descriptor()
        return said

    def _refused(self) -> Trouble:
        """Did it only refuse a feature report, or is it gone? The library says the same of both; reading tells."""
        try:
            self._taken(0)
        except Trouble as gone:
            return gone
        return Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, "the device refused the feature report", sent=True)

    def _said(self, timeout_ms: int) -> bytes:
        said = self._taken(timeout_ms)
        if not said:
            return b""
        report = said if self._reports.numbered else b"\0" + said
        if self._reports.inputs.get(report[0]) != len(report) - 1:
            raise _unlike_its_descriptor()
        return report

    def _taken(self, timeout_ms: int) -> bytes:
        try:
            return bytes(self._handle.read(self._longest, timeout_ms) or b"")
        except Exception as error:
            raise translate(error, sent=True) from None


def _unlike_its_descriptor() -> Trouble:
    message = "the device sent a report that its descriptor does not have"
    return Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, message, sent=True)
