"""What entering a program can end in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from evatui.kernel.lua.values import AMBIGUOUS, resolve_empty
from evatui.kernel.model.errors import ErrorKind

__all__ = [
    "AMBIGUOUS",
    "BadValue",
    "HostPort",
    "LoadFailed",
    "Outcome",
    "Raised",
    "Returned",
    "Verdict",
    "resolve_empty",
]


class HostPort(Protocol):
    """The host as one call sees it. It is asked on a thread of Lua, which it may block."""

    def __call__(self, function: str, argument: Any) -> Any:
        """The JSON-like answer, or a coroutine that is awaited for it on the caller's event loop.

        Both raise `CallFailed`, which the handler gets as ``{kind, message, retryable}``. A coroutine may be closed
        without having begun, where the call has ended meanwhile.

        ``now`` answers ``[RFC 3339 text, epoch milliseconds]``; ``log`` gets ``{level, fields}``; a missing
        argument is None. An unmarked empty table in an argument arrives as ``{}``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Returned:
    """The handler's first result, JSON-like. An empty table that it did not mark is ``AMBIGUOUS``.

    ``marked``: there is no such table in it, which spares looking for one.
    """

    value: Any
    marked: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Raised:
    """An error that the handler did not catch.

    ``file`` and ``line`` are where in the program's own files; ``kind``, ``retryable`` and ``value`` come
    from an error that is a table (``value`` is None where it cannot leave Lua). Texts are cleaned.
    """

    message: str
    kind: str | None = None
    retryable: bool = False
    file: str | None = None
    line: int | None = None
    value: Any = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A limit was hit or the call was ended from outside; no handler can catch that.

    ``retryable``: it was no fault of the call's, and the next one gets a fresh state. ``missing`` is the name of a
    function that the script does not define.
    """

    kind: ErrorKind
    message: str
    retryable: bool = False
    missing: str = ""


@dataclass(frozen=True, slots=True)
class BadValue:
    """The handler's result cannot leave Lua: ``path`` is the JSON pointer of the value that is why."""

    path: str
    message: str


Outcome = Returned | Raised | Verdict | BadValue


class LoadFailed(Exception):
    """A program that does not load.

    ``kind``: ``HandlerError`` (syntax, or an error at the top level), ``NotFound`` (no such entry or health
    check: ``missing`` is its name), ``Timeout``, ``MemoryExceeded`` or ``Cancelled``.
    """

    def __init__(
        self, kind: ErrorKind, message: str, file: str | None = None, line: int | None = None, *, missing: str = ""
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.missing = missing
        self.message = message
        self.file = file
        self.line = line
