"""Whatever a library raises is one kind of error, and says neither path nor bytes."""

from __future__ import annotations

import errno
import termios

import pytest
from serial import SerialException, SerialTimeoutException

from evatui.hardware.trouble import translate

UNREADY = SerialException("device reports readiness to read but returned no data (device disconnected?)")


@pytest.mark.parametrize(
    ("error", "opening", "kind"),
    [
        (UNREADY, False, "DeviceDisconnected"),
        (SerialException(errno.EIO, "write failed: /dev/ttyUSB0"), False, "DeviceDisconnected"),
        (OSError(errno.EIO, "Input/output error", "/dev/ttyUSB0"), False, "DeviceDisconnected"),
        (termios.error(errno.EIO, "Input/output error"), False, "DeviceDisconnected"),
        (TypeError("'NoneType' object cannot be interpreted as an integer"), False, "DeviceDisconnected"),
        (ValueError("not open"), False, "DeviceDisconnected"),
        (SerialTimeoutException("Write timeout"), False, "DeviceWriteUnknown"),
        (SerialException(errno.ENOENT, "could not open port /dev/ttyUSB0"), True, "DeviceDisconnected"),
        (SerialException(errno.EACCES, "could not open port /dev/ttyUSB0"), True, "DeviceNoAccess"),
        (SerialException(errno.EBUSY, "could not open port /dev/ttyUSB0"), True, "DeviceBusy"),
        (SerialException(errno.EAGAIN, "Could not exclusively lock port /dev/ttyUSB0"), True, "DeviceBusy"),
        (SerialException("Could not configure port: (5, 'x')"), True, "DeviceOpenFailed"),
        (OSError("open failed"), True, "DeviceOpenFailed"),
    ],
)
def test_each_exception_is_one_kind(error: Exception, opening: bool, kind: str) -> None:
    found = translate(error, opening=opening)
    assert found.kind == kind
    assert "/dev" not in found.message
    assert translate(found) is found
