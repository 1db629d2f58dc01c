"""A runtime as the frozen values that consoles paint. Runs on the kernel's loop; copies, never shares."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from itertools import islice
from typing import Any

from evatui.control.isolation import in_force, isolation_marks, why
from evatui.control.snapshot import (
    AuditRow,
    Beside,
    CallRow,
    CapabilityRow,
    ConsoleSnapshot,
    Cursor,
    GenerationRow,
    Indicator,
    RejectionRow,
    RuntimeInfo,
    Transition,
)
from evatui.kernel.admission.verdict import Rejection
from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.diagnostic import Diagnostic, Reason
from evatui.kernel.model.event import Event
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.calls import Flight
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.trail import Edge
from evatui.runtime import Runtime

__all__ = ["View", "disk_status", "generation_rows", "marks", "reason_of", "rejection_rows", "runtime_info"]

_MAX_CALLS = 1000
_MAX_ROWS = 1000


class View:
    """Makes snapshots of one runtime. A capability at rest keeps its row, the same object, from one to the next."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._rows: dict[str, tuple[object, CapabilityRow]] = {}

    def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        """The newest state, with what happened after ``since``."""
        runtime, registry = self._runtime, self._runtime.registry
        events, events_lost = runtime.bus.since(since.events)
        records, records_lost = runtime.audit.since(since.audit)
        skipped = max(0, len(records) - _MAX_ROWS)
        records = records[skipped:]
        now = runtime.clock.monotonic()
        return ConsoleSnapshot(
            at=rfc3339(runtime.clock.now()),
            runtime=runtime_info(runtime),
            cursor=Cursor(events[-1].seq if events else since.events, records[-1]["seq"] if records else since.audit),
            counts=dict(registry.trail.counts),
            capabilities=tuple(self._row(capability) for _, capability in sorted(registry.capabilities.items())),
            rejections=rejection_rows(runtime),
            calls=tuple(_call(flight, now) for flight in islice(runtime.calls.flights.values(), _MAX_CALLS)),
            transitions=tuple(_transition(edge) for edge in registry.trail.recent),
            events=tuple(_clean_event(event) for event in events),
            audit=tuple(_audit(record) for record in records),
            dropped=events_lost + records_lost + skipped,
            watch=_watch(runtime),
            health=_indicator(runtime.audit.health),
            manifests_in=tuple(runtime.layout.manifests),
        )

    def _row(self, capability: Capability) -> CapabilityRow:
        if capability.draining:
            return _capability(self._runtime, capability)  # its time left counts down
        key = (
            self._runtime.registry.trail.last_of(capability.id),
            capability.in_flight,
            capability.limiter.queued,
            capability.calls,
            capability.errors,
            capability.disk_digest,
            capability.quarantined,
            capability.held.ruling if capability.held is not None else None,
            capability.hold,
            capability.gone,
            capability.path,
            capability.conduct.last,
            marks(capability),
        )
        known = self._rows.get(capability.id)
        if known is None or known[0] != key or capability.rejection is not None:
            known = self._rows[capability.id] = (key, _capability(self._runtime, capability))
        return known[1]


def runtime_info(runtime: Runtime) -> RuntimeInfo:
    return RuntimeInfo(
        pid=os.getpid(),
        host=clean_line(socket.gethostname(), 64),
        workspace=clean_line(runtime.layout.name, 64),
        since=rfc3339(runtime.since),
        mode=runtime.layout.runtime.mode,
        shutdown_timeout_ms=runtime.layout.runtime.shutdown_timeout_ms,
    )


def disk_status(capability: Capability) -> str:
    """How the disk stands to what serves: ``same, changed, rejected, held, quarantined, missing``."""
    if capability.gone:
        return "missing"
    if capability.rejection is not None:
        return "rejected"
    if capability.held is not None:
        return "held"
    if capability.active is None or capability.active.digest == capability.disk_digest:
        return "same"
    return "quarantined" if capability.quarantined == capability.disk_digest else "changed"


def marks(capability: Capability) -> tuple[str, ...]:
    """What stands out about a capability whatever its state."""
    held = ("held",) if capability.held is not None else ()
    quarantined = ("quarantined",) if disk_status(capability) == "quarantined" else ()
    return (*held, *quarantined, *isolation_marks(capability))


def reason_of(capability: Capability) -> str | None:
    """Why a capability does not serve what the disk holds, None where it does."""
    if capability.gone:
        return "removed"
    if capability.denied:
        return Reason.POLICY_DENIED.value
    if capability.rejection is not None:
        return capability.rejection.diagnostics[0].reason.value
    if capability.held is not None and capability.held.ruling is not None and capability.held.ruling.reason:
        return capability.held.ruling.reason.value
    if capability.active is None and capability.state in (State.DISABLED, State.DRAINING):
        return capability.hold or "disabled_by_manifest"
    return "rolled_back" if disk_status(capability) == "quarantined" else None


def rejection_rows(runtime: Runtime) -> tuple[RejectionRow, ...]:
    """Every refusal in force: of capabilities by id, then of files that speak for none by path."""
    registry = runtime.registry
    named = [
        _rejection(key, capability.rejection, capability.rejected_at, capability.active)
        for key, capability in sorted(registry.capabilities.items())
        if capability.rejection is not None and not capability.gone
    ]
    strays = [_rejection(path, rejection, at, None) for path, (rejection, at) in sorted(registry.strays.items())]
    return (*named, *strays, *_workspace_problems(runtime))


def _workspace_problems(runtime: Runtime) -> list[RejectionRow]:
    """What is wrong beyond single manifests, by file: a broken policy, a folder that cannot be read."""
    by_file: dict[str, list[Diagnostic]] = {}
    for problem in runtime.problems:
        by_file.setdefault(problem.primary.file if problem.primary else "", []).append(problem)
    at = runtime.reloader.looked_at
    return [
        RejectionRow(
            key=clean_line(file),
            id=None,
            path=clean_line(file),
            at=at,
            digest="",
            serving=None,
            diagnostics=tuple(found),
        )
        for file, found in sorted(by_file.items())
    ]


def _rejection(key: str, rejection: Rejection, at: str, active: Generation | None) -> RejectionRow:
    return RejectionRow(
        key=clean_line(key),
        id=rejection.id,
        path=clean_line(rejection.path),
        at=at,
        digest=rejection.digest,
        serving=active.name.short if active else None,
        diagnostics=rejection.diagnostics,
    )


def _capability(runtime: Runtime, capability: Capability) -> CapabilityRow:
    active = capability.active
    shown = active.candidate if active else capability.candidate
    manifest = shown.manifest if shown else capability.rejection.manifest if capability.rejection else None
    return CapabilityRow(
        id=capability.id,
        name=clean_line(manifest.name) if manifest else capability.id,
        description=clean_line(manifest.description) if manifest else "",
        kind=manifest.kind.value if manifest else "",
        version=manifest.version if manifest else "",
        enabled=manifest.enabled if manifest else True,
        priority=manifest.priority if manifest else 0,
        capabilities=manifest.capabilities if manifest else (),
        state=capability.state,
        since=capability.since,
        generation=active.name.id if active else None,
        number=active.name.short if active else None,
        marks=marks(capability),
        isolation=where.value if (where := in_force(capability)) else "",
        isolation_why=why(capability),
        in_flight=capability.in_flight,
        queued=capability.limiter.queued,
        calls=capability.calls,
        errors=capability.errors,
        reason=reason_of(capability) or "",
        on_disk=disk_status(capability),
        side_effects=manifest.side_effects.value if manifest else "none",
        path=clean_line(capability.path),
        script=clean_line(manifest.lua.script) if manifest else "",
        beside=tuple(_beside(runtime, capability)),
        generations=tuple(generation_rows(capability)),
        trail=tuple(_transition(edge) for edge in runtime.registry.trail.of(capability.id)),
    )


def _beside(runtime: Runtime, capability: Capability) -> list[Beside]:
    now = runtime.clock.monotonic()
    beside = [
        Beside(
            what="draining",
            number=generation.name.short,
            calls=generation.in_flight,
            seconds_left=max(0.0, generation.drain_deadline - now) if generation.drain_deadline else None,
        )
        for generation in capability.draining
    ]
    if capability.rejection is not None:
        first = capability.rejection.diagnostics[0]
        place = f"{first.primary.file}:{first.primary.line}" if first.primary else ""
        beside.append(Beside(what="refused", code=first.code, place=clean_line(place)))
    held = capability.held
    if held is not None and held.ruling is not None:
        first = held.ruling.diagnostics[0]
        beside.append(Beside(what="held", number=held.name.short if held.name else "", code=first.code))
    return beside


def generation_rows(capability: Capability) -> list[GenerationRow]:
    """What serves, what drains, and what ended, newest first, each once, at most 20.

    One that came back is there as what it is now, not also as what it was before.
    """
    active = capability.active
    serving = active.digest if active else None
    restorable = {kept.name.id for kept in capability.kept if kept.candidate.snapshot.digest != serving}
    live = [*reversed(capability.draining)]
    if active is not None:
        live.insert(0, active)
    rows = [
        GenerationRow(
            id=g.name.id,
            number=g.name.short,
            version=g.manifest.version,
            state=g.state,
            since=g.since,
            digest=g.digest,
            in_flight=g.in_flight,
            restorable=g.name.id in restorable,
        )
        for g in live
    ]
    rows += [
        GenerationRow(
            id=past.name.id,
            number=past.name.short,
            version=past.version,
            state=State.UNREGISTERED,
            since=past.ended,
            digest=past.digest,
            restorable=past.name.id in restorable,
        )
        for past in reversed(capability.past)
    ]
    once: dict[str, GenerationRow] = {}
    for row in rows:
        once.setdefault(row.id, row)
    return list(once.values())[:20]


def _call(flight: Flight, now: float) -> CallRow:
    generation = flight.generation
    return CallRow(
        request_id=clean_line(flight.request.request_id, 64),
        capability_id=flight.capability.id if flight.capability else "",
        generation=generation.name.id if generation else "",
        number=generation.name.short if generation else "",
        caller=clean_line(flight.request.caller.id or flight.request.caller.type.value, 64),
        started_at=flight.started_at,
        elapsed_ms=(now - flight.started) * 1000,
        deadline_ms=(flight.deadline - flight.started) * 1000,
        host_call=_host_call(flight),
        queued=generation is None,
    )


def _host_call(flight: Flight) -> str:
    running = flight.host.running if flight.host else None
    return clean_line(f"{running.fn} {running.target or ''}".strip(), 120) if running else ""


def _transition(edge: Edge) -> Transition:
    return Transition(
        seq=edge.seq,
        at=edge.at,
        id=edge.id,
        generation=edge.generation,
        number=edge.number,
        old=edge.old,
        new=edge.new,
        actor=clean_line(edge.actor, 64),
        reason=clean_line(edge.reason),
    )


def _audit(record: Mapping[str, Any]) -> AuditRow:
    actor = record.get("actor") or {}
    return AuditRow(
        seq=record["seq"],
        at=record["at"],
        code=record["code"],
        outcome=record["outcome"],
        actor=clean_line(str(actor.get("id") or actor.get("type") or ""), 64),
        capability_id=clean_line(str(record.get("capability_id") or "")),
        capability=clean_line(str(record.get("capability") or "")),
        generation=str(record.get("generation") or ""),
        request_id=clean_line(str(record.get("request_id") or ""), 64),
        duration_us=int(record.get("duration_us") or 0),
        error_kind=str(record.get("error_kind") or ""),
        record=_cleaned(record),
    )


def _clean_event(event: Event) -> Event:
    cleaned = _cleaned(event.payload)
    return Event(event.seq, event.event_id, clean_line(event.topic), event.at, event.actor, event.cause, cleaned)


def _cleaned(value: Any) -> Any:
    """Text anywhere in a JSON-like value, safe to show."""
    if isinstance(value, str):
        return clean_line(value, 4000)
    if isinstance(value, Mapping):
        return {clean_line(str(key)): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


def _watch(runtime: Runtime) -> Indicator:
    if runtime.watch is None:
        return Indicator(ok=True, word="off", detail="nothing is watched")
    return _indicator(runtime.watch.health)


def _indicator(health: tuple[bool, str, str]) -> Indicator:
    ok, word, detail = health
    return Indicator(ok=ok, word=word, detail=clean_line(detail))
