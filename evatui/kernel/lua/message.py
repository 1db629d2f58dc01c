"""What goes into a state: the bytes that an operation takes, and the host's replies among them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ormsgpack

from evatui.kernel.lua.values import Unpackable, pack
from evatui.kernel.model.errors import CallFailed, ErrorKind

__all__ = ["Reply", "failed", "failure", "packed_entry", "packed_failure", "packed_reply"]

Reply = tuple[bool, Any]
"""``(True, answer)`` or ``(False, {kind, message, retryable})``."""


def packed_entry(entry: str, arguments: tuple[Any, ...], size: int | None) -> bytes:
    """For ``ENTER``. ``size`` is that of the argument as JSON, where it is known. Raises `Unpackable`."""
    name = _packed_name(entry)
    return name + pack(arguments[0], size) if arguments else name


_TRUE, _FALSE = ormsgpack.packb(True), ormsgpack.packb(False)
_packed_name = lru_cache(maxsize=64)(ormsgpack.packb)


def failure(error: BaseException) -> Reply:
    """The reply for a host call that raised ``error``."""
    if isinstance(error, CallFailed):
        return failed(error.error.kind, error.error.message, error.error.retryable)
    return failed(ErrorKind.HOST_ERROR, "the host call failed")


def failed(kind: ErrorKind, message: str, retryable: bool = False) -> Reply:
    return False, {"kind": kind.value, "message": message, "retryable": retryable}


def packed_reply(reply: Reply) -> bytes:
    """For ``GO_ON``. Raises `Unpackable`."""
    return (_TRUE if reply[0] else _FALSE) + pack(reply[1])


def packed_failure(problem: Unpackable) -> bytes:
    """For ``GO_ON``, where the host's answer cannot enter."""
    return packed_reply(failed(ErrorKind.HOST_ERROR, f"the host's answer cannot enter Lua: {problem}"))
