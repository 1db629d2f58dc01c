"""What a script reads from the exit code."""

from __future__ import annotations

from enum import IntEnum

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind, Origin

__all__ = ["Exit", "exit_for"]


class Exit(IntEnum):
    OK = 0
    INTERNAL = 1
    INVALID = 2
    POLICY = 3
    UNAVAILABLE = 4
    LIMIT = 5
    HANDLER = 6
    CHANGES = 10
    USAGE = 64


_BY_KIND = {
    ErrorKind.INVALID_INPUT: Exit.INVALID,
    ErrorKind.INPUT_TOO_LARGE: Exit.INVALID,
    ErrorKind.NOT_FOUND: Exit.INVALID,
    ErrorKind.CONFLICT: Exit.INVALID,
    ErrorKind.POLICY_DENIED: Exit.POLICY,
    ErrorKind.UNAVAILABLE: Exit.UNAVAILABLE,
    ErrorKind.AUDIT_UNAVAILABLE: Exit.UNAVAILABLE,
    ErrorKind.TIMEOUT: Exit.LIMIT,
    ErrorKind.CANCELLED: Exit.LIMIT,
    ErrorKind.MEMORY_EXCEEDED: Exit.LIMIT,
    ErrorKind.OUTPUT_TOO_LARGE: Exit.LIMIT,
    ErrorKind.HOST_CALL_LIMIT: Exit.LIMIT,
    ErrorKind.CONCURRENCY_LIMITED: Exit.LIMIT,
    ErrorKind.HANDLER_ERROR: Exit.HANDLER,
    ErrorKind.INVALID_OUTPUT: Exit.HANDLER,
    ErrorKind.INVALID_RESPONSE: Exit.HANDLER,
    ErrorKind.HOST_ERROR: Exit.HANDLER,
    ErrorKind.INTERNAL: Exit.INTERNAL,
    **{kind: Exit.UNAVAILABLE for kind in ErrorKind if kind.name.startswith("DEVICE_")},
}


def exit_for(failed: CommandFailed) -> Exit:
    """By kind; whatever the kind, an error that the handler itself answered with is `Exit.HANDLER`."""
    if failed.context.get("origin") == Origin.HANDLER:
        return Exit.HANDLER
    return _BY_KIND[failed.kind]
