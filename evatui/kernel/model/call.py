"""A call on its way through the house: who asks, what for, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any

from evatui.kernel.model.errors import CallError
from evatui.kernel.model.ids import new_id

__all__ = ["KERNEL", "Actor", "CallReport", "CallRequest", "CallerType", "Response"]


class CallerType(StrEnum):
    USER = "user"
    CLI = "cli"
    MCP = "mcp"
    CAPABILITY = "capability"
    SUBAGENT = "subagent"
    HOOK = "hook"
    KERNEL = "kernel"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something: ``Actor(CallerType.CAPABILITY, "repo-summary")``."""

    type: CallerType
    id: str = ""

    def to_json(self) -> dict[str, str]:
        return {"type": str(self.type), "id": self.id}


KERNEL = Actor(CallerType.KERNEL, "kernel")


@dataclass(frozen=True, slots=True)
class CallRequest:
    """``payload`` is JSON-like; ``timeout_ms`` can only shorten the capability's own limit.

    ``provider`` is the id that is to answer. ``providers`` are patterns of the ids that may, None is anybody.
    ``local``: only what runs inside, Lua and the kernel itself, is to answer.
    """

    capability: str
    payload: Any
    caller: Actor
    provider: str | None = None
    providers: tuple[str, ...] | None = None
    user: str | None = None
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    local: bool = False
    timeout_ms: int | None = None
    request_id: str = field(default_factory=partial(new_id, "req"))
    trace_id: str = field(default_factory=partial(new_id, "trace"))
    ancestors: tuple[str, ...] = ()
    """Capability ids of the chain that led here, outermost first."""
    deadline: float | None = None
    """The ancestor's deadline on the monotonic clock, in seconds: a call never outlives its caller's."""


@dataclass(frozen=True, slots=True)
class Response:
    """Either ``ok`` with a ``result``, or an ``error``."""

    ok: bool
    result: Any = None
    meta: Mapping[str, Any] | None = None
    error: CallError | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "result": self.result,
            "meta": dict(self.meta) if self.meta is not None else None,
            "error": self.error.to_json() if self.error else None,
        }


@dataclass(frozen=True, slots=True)
class CallReport:
    """A `Response` and where it came from. ``generation`` is None where no generation was reached."""

    response: Response
    request_id: str
    trace_id: str
    capability_id: str | None
    generation: str | None
    duration_ms: float

    def to_json(self) -> dict[str, Any]:
        return {
            "response": self.response.to_json(),
            "request_id": self.request_id,
            "trace_id": self.trace_id,
            "capability_id": self.capability_id,
            "generation": self.generation,
            "duration_ms": round(self.duration_ms, 3),
        }
