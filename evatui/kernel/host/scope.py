"""In whose name, and within which bounds, a handler asks the host for something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from evatui.kernel.model.call import Actor, CallReport, CallRequest
from evatui.kernel.model.manifest import Limits
from evatui.kernel.model.permissions import Permissions
from evatui.kernel.records.audit import AuditLog, Reservation
from evatui.kernel.storage.carried_state import CarriedState

__all__ = ["CallScope", "InvokePort"]


def _nobody_listens() -> None:
    """Reports are kept all the same."""


class InvokePort(Protocol):
    """The way back into the kernel, for a capability that calls another."""

    async def __call__(self, request: CallRequest) -> CallReport: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallScope:
    """One call of one generation.

    ``permissions`` and ``credentials`` are asked at every host call. ``deadline`` is on the monotonic clock.
    ``caller`` asked for this call, ``ancestors`` are the capability ids of its chain, this one's last. With
    ``effects`` False whatever changes something is refused; with it, ``audit`` and ``reservation`` take the
    announcement of each effect.
    """

    capability_id: str
    generation: str
    request_id: str
    trace_id: str
    deadline: float
    permissions: Callable[[], Permissions]
    limits: Limits
    effects: bool
    caller: Actor
    capability: str | None = None
    ancestors: tuple[str, ...] = ()
    user: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    schema_version: int = 1
    carried: CarriedState | None = None
    """In place of the stored state, for a migration; what it sets there is no effect yet."""
    credentials: Callable[[], Mapping[str, Mapping[str, Any]]] = dict
    """By name, as the policy defines them, and as far as this version may use them."""
    reported: Callable[[], None] = _nobody_listens
    """Called with each report of progress, on the thread of Lua: must be cheap, must not raise."""
    audit: AuditLog | None = None
    reservation: Reservation | None = None
