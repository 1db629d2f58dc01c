"""What a call can end in besides an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

__all__ = ["HANDLER_KINDS", "CallError", "CallFailed", "ErrorKind", "Origin", "failure"]


class ErrorKind(StrEnum):
    INVALID_INPUT = "InvalidInput"
    INVALID_OUTPUT = "InvalidOutput"
    INVALID_RESPONSE = "InvalidResponse"
    POLICY_DENIED = "PolicyDenied"
    NOT_FOUND = "NotFound"
    UNAVAILABLE = "Unavailable"
    CONFLICT = "Conflict"
    TIMEOUT = "Timeout"
    MEMORY_EXCEEDED = "MemoryExceeded"
    INPUT_TOO_LARGE = "InputTooLarge"
    OUTPUT_TOO_LARGE = "OutputTooLarge"
    CONCURRENCY_LIMITED = "ConcurrencyLimited"
    HOST_CALL_LIMIT = "HostCallLimit"
    CANCELLED = "Cancelled"
    HANDLER_ERROR = "HandlerError"
    HOST_ERROR = "HostError"
    AUDIT_UNAVAILABLE = "AuditUnavailable"
    INTERNAL = "Internal"

    DEVICE_NOT_FOUND = "DeviceNotFound"
    DEVICE_UNAUTHORIZED = "DeviceUnauthorized"
    DEVICE_AMBIGUOUS = "DeviceAmbiguous"
    DEVICE_BUSY = "DeviceBusy"
    DEVICE_DISCONNECTED = "DeviceDisconnected"
    DEVICE_NO_ACCESS = "DeviceNoAccess"
    DEVICE_OPEN_FAILED = "DeviceOpenFailed"
    DEVICE_HANDSHAKE_FAILED = "DeviceHandshakeFailed"
    DEVICE_PROTOCOL_ERROR = "DeviceProtocolError"
    DEVICE_FRAME_TOO_LARGE = "DeviceFrameTooLarge"
    DEVICE_WRITE_UNKNOWN = "DeviceWriteUnknown"
    DEVICE_STALE_GENERATION = "DeviceStaleGeneration"
    DEVICE_RATE_LIMITED = "DeviceRateLimited"


class Origin(StrEnum):
    KERNEL = "kernel"
    HANDLER = "handler"


HANDLER_KINDS = frozenset(
    {
        ErrorKind.INVALID_INPUT,
        ErrorKind.NOT_FOUND,
        ErrorKind.CONFLICT,
        ErrorKind.UNAVAILABLE,
        ErrorKind.POLICY_DENIED,
    }
)
"""The kinds that a handler may use itself; any other becomes ``HandlerError`` with ``details.kind``."""


@dataclass(frozen=True, slots=True)
class CallError:
    """Why a call failed. ``message`` holds no secret, no host path and no traceback."""

    kind: ErrorKind
    message: str
    retryable: bool = False
    generation: str | None = None
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def origin(self) -> Origin:
        return Origin(self.details.get("origin", Origin.KERNEL))

    def on(self, generation: str | None) -> CallError:
        """The same error, naming the generation that it happened on."""
        return replace(self, generation=generation)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "message": self.message,
            "retryable": self.retryable,
            "generation": self.generation,
            "details": {"origin": Origin.KERNEL.value, **self.details},
        }


class CallFailed(Exception):
    """Carries a `CallError` up the call path."""

    def __init__(self, error: CallError) -> None:
        super().__init__(f"{error.kind}: {error.message}")
        self.error = error


def failure(kind: ErrorKind, message: str, *, retryable: bool = False, **details: Any) -> CallFailed:
    """A `CallFailed` to raise; ``details`` become the error's details."""
    return CallFailed(CallError(kind, message, retryable, None, MappingProxyType(details)))
