"""What can go wrong with a device, as one kind of error; whatever a library raises becomes one of these."""

from __future__ import annotations

import errno
from typing import Any, Final

from evatui.kernel.model.errors import ErrorKind

__all__ = ["Trouble", "translate"]


class Trouble(Exception):
    """``message`` names neither a path nor a byte of what was said. ``sent``: something may have reached the device."""

    def __init__(
        self, kind: ErrorKind, message: str, *, retryable: bool = False, sent: bool = False, **details: Any
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.sent = sent
        self.details = details


_CLOSED: Final = frozenset({errno.EACCES, errno.EPERM})
_TAKEN: Final = frozenset({errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK})
_GONE: Final = frozenset({errno.ENOENT, errno.ENXIO, errno.ENODEV, errno.EIO, errno.EBADF, errno.ENOTTY})


def translate(error: Exception, *, opening: bool = False, sent: bool = False) -> Trouble:
    """What ``error`` means. The libraries say the same thing in five ways: with and without a number, as errors of the
    system, of the terminal, and, where a device was closed meanwhile, as errors of type or value."""
    if isinstance(error, Trouble):
        return error
    number = getattr(error, "errno", None)
    if number is None and type(error).__module__ == "termios" and error.args:
        number = error.args[0]
    if "Timeout" in type(error).__name__:
        message = "the device took no more bytes; what it did with those before is not known"
        return Trouble(ErrorKind.DEVICE_WRITE_UNKNOWN, message, sent=True)
    if number in _CLOSED:
        return Trouble(ErrorKind.DEVICE_NO_ACCESS, "the operating system does not let this process open the device")
    if number in _TAKEN:
        return Trouble(ErrorKind.DEVICE_BUSY, "another program has the device", retryable=True)
    if opening and number not in _GONE:
        return Trouble(ErrorKind.DEVICE_OPEN_FAILED, "the device could not be opened", retryable=True)
    return Trouble(ErrorKind.DEVICE_DISCONNECTED, "the device went away", retryable=not sent, sent=sent)
