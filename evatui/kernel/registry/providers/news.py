"""What becomes of adapters, as events and on record; and what each of them uses of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evatui.kernel.admission.policy import Policy
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.manifest import AuditLevels
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.events import EventBus
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.providers.holding import HeldAdapter
from evatui.kernel.registry.providers.trip import Trip

__all__ = ["News"]


class News:
    """The `House` of each provider. ``policy`` is the one in force, None before there is one."""

    def __init__(self, journal: Journal, audit: AuditLog, bus: EventBus, clock: Clock) -> None:
        self.audit = audit
        self.clock = clock
        self.policy: Policy | None = None
        self.on_change: Callable[[], None] = lambda: None
        self.trips: dict[str, Trip] = {}
        self._journal = journal
        self._bus = bus

    def tell(self, what: str, adapter: Adapter, *, actor: Actor = KERNEL, **more: Any) -> None:
        """Emits ``/adapter/<what>``."""
        payload = {"id": adapter.id, "transport": adapter.transport, **more}
        self._bus.emit(f"/adapter/{what}", payload, actor=actor)
        self.on_change()

    def levels(self) -> AuditLevels:
        return self.policy.levels_within(AuditLevels()) if self.policy is not None else AuditLevels()

    def later(self, work: Callable[[], None]) -> None:
        self._journal.later(work)

    def loaded(self, adapter: Adapter, actor: Actor) -> None:
        self.tell("loaded", adapter, actor=actor)
        self._journal.write(
            Code.ADAPTER_LOADED, Outcome.OK, actor, capability_id=adapter.id, manifest_digest=adapter.digest
        )

    def unregistered(self, adapter: Adapter, actor: Actor, reason: str) -> None:
        self.tell("unregistered", adapter, actor=actor, reason=reason)
        self._journal.write(Code.ADAPTER_UNREGISTERED, Outcome.OK, actor, capability_id=adapter.id, reason=reason)

    def held(self, held: HeldAdapter, actor: Actor) -> None:
        first = held.diagnostics[0]
        told = {"reason": first.reason.value, "diagnostics": [found.to_json() for found in held.diagnostics]}
        self.tell("held", held.adapter, actor=actor, **told)
        self._journal.write(
            Code.ADAPTER_HELD,
            Outcome.DENIED,
            actor,
            capability_id=held.adapter.id,
            manifest_digest=held.adapter.digest,
            reason=f"{first.code} {first.message}",
        )

    def server(self, server: str, what: str, more: Mapping[str, Any]) -> None:
        """Emits ``/mcp/<what>``; a quarantine is on record too."""
        self._bus.emit(f"/mcp/{what}", {"server": server, **more})
        if what == "quarantined":
            fields = {"capability_id": server, "tools": list(more["tools"])}
            self._journal.write(Code.MCP_QUARANTINED, Outcome.DENIED, KERNEL, **fields)
        self.on_change()

    def defect(self, error: Exception) -> None:
        self._journal.defect("adapters", error)
