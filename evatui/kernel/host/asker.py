"""Who asks the host for something, and what there is to answer with."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.host.files import Files
from evatui.kernel.host.ports import Outside
from evatui.kernel.host.reporting import Reporting
from evatui.kernel.host.scope import CallScope, InvokePort
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.records.events import EventBus
from evatui.kernel.storage.state_store import StateStore
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.writing import Writer

__all__ = ["Asker", "HostCall", "Parts"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the host works with."""

    tree: Tree
    writer: Writer
    layout: Layout
    state: StateStore
    events: EventBus
    invoke: InvokePort
    clock: Clock
    outside: Outside


@dataclass(slots=True)
class HostCall:
    """``target`` is what it is about (a path, key, topic or capability), as far as is known; cleaned."""

    fn: str
    target: str = ""


class Asker:
    """One call of one generation, as the host functions see it."""

    def __init__(self, parts: Parts, scope: CallScope) -> None:
        self.parts = parts
        self.scope = scope
        self.files = Files(parts.tree, parts.writer, parts.layout)
        self.actor = Actor(CallerType.CAPABILITY, scope.capability_id)
        self.reporting = Reporting(parts.clock.monotonic)
        self._kind = "health check" if scope.carried is None else "migration"

    def require_effects(self, call: HostCall) -> None:
        """Raises ``PolicyDenied`` where nothing may be changed."""
        if not self.scope.effects:
            raise failure(ErrorKind.POLICY_DENIED, f"{call.fn} is refused here: a {self._kind} may not change anything")

    def announce(self, call: HostCall) -> None:
        """To be called before each effect, which may happen once this has returned. Blocking: it writes to a file.

        Raises ``PolicyDenied`` where nothing may be changed, ``AuditUnavailable`` where nothing can be written down.
        """
        self.require_effects(call)
        scope = self.scope
        if scope.audit is None or scope.reservation is None:
            return
        intent = {
            "actor": scope.caller.to_json(),
            "capability_id": scope.capability_id,
            "capability": scope.capability,
            "generation": scope.generation,
            "request_id": scope.request_id,
            "trace_id": scope.trace_id,
            "host_calls": [{"fn": call.fn, "target": call.target, "duration_us": None, "outcome": "intent"}],
        }
        scope.audit.intent(scope.reservation, intent)
